/** What a tenant has that can be named in a request: made anew for each caller, since requests change and delete it. */
import { randomUUID } from 'node:crypto';
import type { Client } from './client.ts';
import type { Headers } from './credentials.ts';

/** Ids; none of them belongs to a caller's own credential. */
export interface Ids {
  readonly tenant: string;
  readonly user: string;
  readonly username: string;
  readonly scimUser: string;
  readonly key: string;
  readonly group: string;
  readonly scimGroup: string;
  readonly invitation: string;
  readonly webhook: string;
  readonly delivery: string;
  readonly job: string;
  readonly session: string;
  readonly capability: string;
  readonly conversation: string;
  readonly conversationFile: string;
  readonly message: string;
  readonly stream: string;
  readonly share: string;
  readonly artifact: string;
  readonly artifactShare: string;
  /** Of a call of a tool that waits. */
  readonly approval: string;
  readonly schedule: string;
  /** For a scientific source, which somebody asked for. */
  readonly scienceRequest: string;
  readonly memory: string;
  /** The name of a memory file, without its end. */
  readonly memoryFile: string;
  readonly dream: string;
  readonly device: string;
  readonly commAccount: string;
  readonly commMessage: string;
  readonly commCall: string;
  readonly commSip: string;
  readonly prompt: string;
  readonly response: string;
  readonly namespace: string;
  readonly document: string;
  readonly upload: string;
  readonly tusUpload: string;
  readonly file: string;
  readonly vectorStore: string;
  readonly fileBatch: string;
  /** One that answers, and one that can be unloaded and deleted. Models are of no tenant. */
  readonly model: string;
  readonly spareModel: string;
}

/** What a caller that is limited to some knowledge bases, or to some models, reaches by its limit alone. */
export const OF_BASES = [
  'namespace',
  'document',
  'upload',
  'tusUpload',
  'file',
  'vectorStore',
  'fileBatch',
  'response',
] as const satisfies (keyof Ids)[];
export const OF_MODELS = ['model', 'spareModel'] as const satisfies (keyof Ids)[];

export interface Belongings {
  readonly ids: Ids;
  /** Names of the knowledge bases that documents, files and the response are of. */
  readonly bases: readonly string[];
  /** Keys and tokens, which no answer to others may show. */
  readonly secrets: readonly string[];
}

export const DEVICE_VARIABLE = { name: 'level', type: 'number', access: 'read_write', min: 0, max: 9 };
/** The tenant's policy: saving an artifact asks. */
export const ASKING_POLICY = {
  rules: [{ tools: ['artifacts.create'], decision: 'ask' }],
  timeout_seconds: 120,
  taint_exempt: [],
};

/** `admin` of the tenant, `person`, the account whose conversations and responses they are, and `keeper`, whose knowledge bases and files. */
export async function makeBelongings(
  client: Client,
  tenant: string,
  admin: Headers,
  person: Headers,
  keeper: Headers = admin,
): Promise<Belongings> {
  // No name is the beginning of another one.
  const mark = randomUUID().slice(0, 13);
  const [name, username, namespace] = [`canary-of-${tenant}-${mark}`, `person-${mark}`, `base-${mark}`];
  const post = (path: string, body: object, as = admin) => client.json('POST', path, as, body);
  const user = await post('/api/v1/identity/users', { username, role: 'viewer', service: true });
  const scimUser = await post('/api/v1/identity/users', { username: `${username}-scim`, role: 'viewer' });
  const key = await post('/api/v1/identity/keys', { name, user: user.id });
  const group = await post('/api/v1/identity/groups', { name });
  const scimGroup = await post('/api/v1/identity/groups', { name: `${name}-scim` });
  const invitation = await post('/api/v1/identity/invitations', { note: name });
  const { data: events } = await client.json('GET', '/api/v1/webhooks/events', admin);
  const webhook = await post('/api/v1/webhooks', {
    url: `http://127.0.0.1:9/${name}`,
    events: [events[0].name ?? events[0].type ?? events[0].event],
    description: name,
  });
  const capability = await post('/api/v1/identity/capabilities', { scopes: ['chat:use'], expires_in_seconds: 86_400 }, person);
  const conversation = await post('/api/v1/edge/conversations', { title: name }, person);
  const said = { conversation_id: conversation.id, role: 'user', content: name };
  const message = await post('/api/v1/edge/conversations/messages', said, person);
  const own = `?id=${conversation.id}&filename=${name}.txt`;
  const text = `The lighthouse of ${name}.`;
  const conversationFile = await client.json('POST', `/api/v1/edge/conversations/files${own}`, person, text);
  const stream = `stream-${mark}`;
  const answer = { conversation_id: conversation.id, conversation_answer: { id: stream }, stream: true, resumable: true };
  const chat = { model: 'm', messages: [{ role: 'user', content: name }], ...answer };
  await client.send({ method: 'POST', path: '/v1/chat/completions', headers: person, body: chat });
  const { share } = await post('/api/v1/edge/conversations/share', { id: conversation.id }, person);
  const artifact = await post('/api/v1/artifacts', { title: name, kind: 'html', content: name }, person);
  const { share: artifactShare } = await post('/api/v1/artifacts/share/', { id: artifact.id }, person);
  await client.json('PUT', '/api/v1/tools/policies', admin, ASKING_POLICY);
  const call = { tool: 'artifacts.create', arguments: { title: name, kind: 'html', content: name } };
  const asked = await client.send({ method: 'POST', path: '/api/v1/tools/execute', headers: person, body: call });
  const scheduled = { name, cron: '0 0 29 2 *', prompt: name, tools: [] };
  const schedule = await post('/api/v1/agent/schedules', scheduled, person);
  // One that waits is not made again for the same account.
  const asker = { 'x-api-key': key.api_key };
  const science = await post('/api/v1/science/sources/request', { source_id: 'gbif', reason: name }, asker);
  const sourceKey = `source-key-${mark}`;
  await client.json('PATCH', '/api/v1/science/sources/openalex', admin, { key: sourceKey });
  const memory = await post('/api/v1/memory/memories', { text: name }, person);
  const memoryFile = `memories-${mark}`;
  await post('/api/v1/exmm/export', { file: `${memoryFile}.exmm` }, person);
  const { dream_id: dream } = await post('/api/v1/memory/dream', { dry_run: true }, person);
  const deviceKey = `device-key-${mark}`;
  const simulated = { name, kind: 'simulated', connection: {}, variables: [DEVICE_VARIABLE], key: deviceKey };
  const device = await post('/api/v1/iot/devices', simulated, admin);
  const accountKey = `account-key-${mark}`;
  // No server has that name, so that nothing is sent.
  const settings = { host: 'mail.invalid', port: 25, user: 'svc', from: 'svc@mail.invalid' };
  const mail = { kind: 'email', name, settings, key: accountKey, allowed_recipients: ['*@mail.invalid'] };
  const commAccount = await post('/api/v1/comm/accounts', mail, admin);
  const sent = { account_id: commAccount.id, to: 'ann@mail.invalid', text: name };
  const { message_id: commMessage } = await post('/api/v1/comm/messages', sent, admin);
  const sip = { registrar: 'sip.invalid', user: 'svc', domain: 'sip.invalid' };
  const telephone = { kind: 'sip', name: `${name}-sip`, settings: sip, key: accountKey, allowed_recipients: ['*'] };
  const commSip = await post('/api/v1/comm/accounts', telephone, admin);
  const { call_id: commCall } = await post('/api/v1/comm/calls/start', { account_id: commSip.id, to: '200' }, admin);
  const prompt = await post('/api/v1/edge/prompts', { title: name, content: name }, person);
  await post(`/api/v1/vector/namespaces/${tenant}`, { namespace }, keeper);
  const document = await post('/api/v1/vector/ingest', { tenant, namespace, text, source: `${name}.txt` }, keeper);
  const file = { filename: `${name}.txt`, size: 100, tenant, namespace, source: name };
  const upload = await post('/api/v1/upload/init', file, keeper);
  const metadata = Object.entries({ filename: `${name}.txt`, namespace, source: name });
  const begun = await client.send({
    method: 'POST',
    path: '/api/v1/upload/tus',
    headers: {
      ...keeper,
      'tus-resumable': '1.0.0',
      'upload-length': '100',
      'upload-metadata': metadata.map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`).join(','),
    },
    body: '',
  });
  const tusUpload = begun.headers.location?.split('/').at(-1) ?? '';
  const form = ['name="purpose"\r\n\r\nassistants', `name="file"; filename="${name}.txt"\r\n\r\n${text}`];
  const parts = form.map((part) => `--mark\r\nContent-Disposition: form-data; ${part}\r\n`).join('');
  const stored = await client.json('POST', '/v1/files', keeper, `${parts}--mark--\r\n`, 'multipart/form-data; boundary=mark');
  const store = await post('/v1/vector_stores', { name: `${name}-store` }, keeper);
  const batch = await post(`/v1/vector_stores/${store.id}/file_batches`, { file_ids: [stored.id] }, keeper);
  const tools = [{ type: 'file_search', vector_store_ids: [store.id] }];
  const response = await post('/v1/responses', { model: 'm', input: name, background: true, tools }, person);
  const { data: sessions } = await client.json('GET', '/api/v1/users/me/sessions', person);
  const { jobs } = await client.json('GET', '/api/v1/system/jobs?limit=1', admin);
  const { data: deliveries } = await client.json('GET', `/api/v1/webhooks/${webhook.id}/deliveries`, admin);
  return {
    ids: {
      tenant,
      user: user.id,
      username,
      scimUser: scimUser.id,
      key: key.id ?? key.key_id,
      group: group.id,
      scimGroup: scimGroup.id,
      invitation: invitation.id,
      webhook: webhook.id,
      capability: capability.id,
      conversation: conversation.id,
      conversationFile: conversationFile.id,
      message: message.id,
      stream,
      response: response.id,
      share,
      artifact: artifact.id,
      artifactShare,
      approval: JSON.parse(asked.text).approval_id,
      schedule: schedule.id,
      scienceRequest: science.request_id,
      memory: memory.id,
      memoryFile,
      dream,
      device: device.id,
      commAccount: commAccount.id,
      commMessage,
      commCall,
      commSip: commSip.id,
      prompt: prompt.id,
      namespace,
      document: document.id,
      upload: upload.upload_id,
      tusUpload,
      file: stored.id,
      vectorStore: store.id,
      fileBatch: batch.id,
      model: 'm',
      spareModel: 'other',
      delivery: deliveries[0]?.id ?? `whd_${randomUUID()}`,
      job: jobs[0]?.id ?? '00000000-0000-7000-8000-000000000000',
      session: sessions.find(({ current }: { current: boolean }) => !current)?.id ?? 'ses_0',
    },
    bases: [namespace, store.namespace],
    secrets: [key.api_key, capability.token, webhook.secret, invitation.token, sourceKey, deviceKey, accountKey].filter(
      (each) => typeof each === 'string',
    ),
  };
}

/** Ids of the same form that nothing has; by default all that belong to a tenant. */
export function unknownLike(ids: Ids, names: readonly (keyof Ids)[] = ofTenant(ids)): Ids {
  const rows = names.map((name) => [name, String(ids[name]).replace(/[a-z0-9]{1,6}$/i, rotate)]);
  return { ...ids, ...Object.fromEntries(rows) };
}

function ofTenant(ids: Ids): (keyof Ids)[] {
  return (Object.keys(ids) as (keyof Ids)[]).filter((name) => !(OF_MODELS as readonly string[]).includes(name));
}

/** Hexadecimal digits stay such. */
function rotate(text: string): string {
  const next: Record<string, string> = { '9': '0', f: 'a', F: 'A', z: 'a', Z: 'A' };
  return text.replace(/./g, (each) => next[each] ?? String.fromCharCode(each.charCodeAt(0) + 1));
}

/** What is sent to each route. A route that takes a body or an id and has no row here is a fault of the matrix. */
import { ASKING_POLICY, type Ids } from './belongings.ts';

interface Content {
  readonly query?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Of a body that is a text. */
  readonly type?: string;
}

/** Of the braces in a path, in their order. */
const PARAMS: Readonly<Record<string, (ids: Ids) => readonly string[]>> = {
  '/api/v1/artifacts/{id}': ({ artifact }) => [artifact],
  '/api/v1/artifacts/{id}/versions': ({ artifact }) => [artifact],
  '/api/v1/artifacts/share/{share}': ({ artifactShare }) => [artifactShare],
  '/api/v1/cloud/backends/{id}': () => ['nobody'],
  '/api/v1/cloud/backends/{id}/recheck': () => ['nobody'],
  '/api/v1/cloud/routes/{id}': () => ['nobody'],
  '/api/v1/data/models/{id}': ({ model }) => [model],
  '/api/v1/edge/conversations/files/{file_id}': ({ conversationFile }) => [conversationFile],
  '/api/v1/edge/conversations/files/{file_id}/keep': ({ conversationFile }) => [conversationFile],
  '/api/v1/edge/conversations/streams/{id}': ({ stream }) => [stream],
  '/api/v1/edge/plugins/{id}/disable': () => ['nothing'],
  '/api/v1/edge/plugins/{id}/enable': () => ['nothing'],
  '/api/v1/edge/prompts/{id}': ({ prompt }) => [prompt],
  '/api/v1/edge/prompts/shared/{id}': ({ prompt }) => [prompt],
  '/api/v1/identity/groups/{id}': ({ group }) => [group],
  '/api/v1/identity/groups/{id}/members': ({ group }) => [group],
  '/api/v1/identity/groups/{id}/members/{user}': ({ group, user }) => [group, user],
  '/api/v1/identity/invitations/{id}': ({ invitation }) => [invitation],
  '/api/v1/identity/keys/{id}': ({ key }) => [key],
  '/api/v1/identity/tenants/{id}': ({ tenant }) => [tenant],
  '/api/v1/identity/users/{id}': ({ user }) => [user],
  '/api/v1/identity/users/{id}/api-key': ({ user }) => [user],
  '/api/v1/identity/users/{id}/password-reset': ({ scimUser }) => [scimUser],
  '/api/v1/identity/users/{id}/sessions': ({ user }) => [user],
  // Those who ask stay signed in.
  'DELETE /api/v1/identity/users/{id}/sessions': ({ scimUser }) => [scimUser],
  '/api/v1/identity/users/{id}/sessions/{session}': ({ user, session }) => [user, session],
  '/api/v1/inference/models/{id}': ({ model }) => [model],
  // The model that answers stays.
  'DELETE /api/v1/inference/models/{id}': ({ spareModel }) => [spareModel],
  '/api/v1/inference/models/{id}/load': ({ model }) => [model],
  '/api/v1/inference/models/{id}/pin': ({ model }) => [model],
  '/api/v1/inference/models/{id}/unload': ({ spareModel }) => [spareModel],
  '/api/v1/models/pulls/{id}': ({ job }) => [job],
  '/api/v1/science/sources/{id}': () => ['gbif'],
  '/api/v1/science/sources/requests/{id}': ({ scienceRequest }) => [scienceRequest],
  '/api/v1/security/approvals/{id}': ({ approval }) => [approval],
  '/api/v1/system/jobs/{id}': ({ job }) => [job],
  '/api/v1/system/jobs/{id}/cancel': ({ job }) => [job],
  '/api/v1/system/jobs/{id}/events': ({ job }) => [job],
  '/api/v1/system/roles/{role}': () => ['inference'],
  '/api/v1/system/settings/{key}': () => ['log.level'],
  '/api/v1/system/settings/{key}/{name}': () => ['models', 'm'],
  '/api/v1/system/syslog/config/tenant/{tenant}': ({ tenant }) => [tenant],
  '/api/v1/tenants/{tenantId}/theme': ({ tenant }) => [tenant],
  '/api/v1/tenants/{tenantId}/branding/logo': ({ tenant }) => [tenant],
  '/api/v1/tools/mcp-servers/{label}': () => ['nobody'],
  '/api/v1/tools/mcp-servers/{label}/approve': () => ['nobody'],
  '/api/v1/tools/mcp-servers/{label}/oauth/callback': () => ['nobody'],
  '/api/v1/tools/mcp-servers/{label}/oauth/client': () => ['nobody'],
  '/api/v1/tools/mcp-servers/{label}/oauth/start': () => ['nobody'],
  '/api/v1/users/me/sessions/{id}': ({ session }) => [session],
  '/api/v1/upload/{upload_id}': ({ upload }) => [upload],
  '/api/v1/upload/tus/{upload_id}': ({ tusUpload }) => [tusUpload],
  '/api/v1/vector/documents/{tenant}/{namespace}/{id}': ({ tenant, namespace, document }) => [tenant, namespace, document],
  '/api/v1/vector/namespaces/{tenant}': ({ tenant }) => [tenant],
  '/api/v1/vector/namespaces/{tenant}/{namespace}': ({ tenant, namespace }) => [tenant, namespace],
  '/api/v1/vector/namespaces/{tenant}/{namespace}/documents': ({ tenant, namespace }) => [tenant, namespace],
  '/api/v1/vector/namespaces/{tenant}/{namespace}/rebuild': ({ tenant, namespace }) => [tenant, namespace],
  '/api/v1/vector/namespaces/{tenant}/{namespace}/shard-only': ({ tenant, namespace }) => [tenant, namespace],
  '/api/v1/webhooks/{id}': ({ webhook }) => [webhook],
  '/api/v1/webhooks/{id}/deliveries': ({ webhook }) => [webhook],
  '/api/v1/webhooks/{id}/deliveries/{delivery}/replay': ({ webhook, delivery }) => [webhook, delivery],
  '/api/v1/webhooks/{id}/secret': ({ webhook }) => [webhook],
  '/assets/{path}': () => ['missing.js'],
  '/api/v1/backup/backups/{id}': ({ job }) => [job],
  '/api/v1/backup/backups/{id}/verify': ({ job }) => [job],
  '/scim/v2/Groups/{id}': ({ scimGroup }) => [scimGroup],
  '/scim/v2/ResourceTypes/{id}': () => ['User'],
  '/scim/v2/Schemas/{id}': () => ['urn:ietf:params:scim:schemas:core:2.0:User'],
  '/scim/v2/Users/{id}': ({ scimUser }) => [scimUser],
  '/v1/files/{file_id}': ({ file }) => [file],
  '/v1/files/{file_id}/content': ({ file }) => [file],
  '/v1/vector_stores/{vector_store_id}': ({ vectorStore }) => [vectorStore],
  '/v1/vector_stores/{vector_store_id}/search': ({ vectorStore }) => [vectorStore],
  '/v1/vector_stores/{vector_store_id}/files': ({ vectorStore }) => [vectorStore],
  '/v1/vector_stores/{vector_store_id}/files/{file_id}': ({ vectorStore, file }) => [vectorStore, file],
  '/v1/vector_stores/{vector_store_id}/files/{file_id}/content': ({ vectorStore, file }) => [vectorStore, file],
  '/v1/vector_stores/{vector_store_id}/file_batches': ({ vectorStore }) => [vectorStore],
  '/v1/vector_stores/{vector_store_id}/file_batches/{batch_id}': ({ vectorStore, fileBatch }) => [vectorStore, fileBatch],
  '/v1/vector_stores/{vector_store_id}/file_batches/{batch_id}/files': ({ vectorStore, fileBatch }) => [vectorStore, fileBatch],
  '/v1/vector_stores/{vector_store_id}/file_batches/{batch_id}/cancel': ({ vectorStore, fileBatch }) => [vectorStore, fileBatch],
  '/v1/responses/{id}': ({ response }) => [response],
  '/v1/responses/{id}/cancel': ({ response }) => [response],
  '/v1/responses/{id}/input_items': ({ response }) => [response],
};

const messages = [{ role: 'user', content: 'Hello' }];
const patchOf = (value: object) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations: [{ op: 'replace', value }],
});
const scimGroup = (displayName: string, member: string) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
  displayName,
  members: [{ value: member }],
});
const scimUser = (userName: string) => ({ schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName, active: true });

const TUS = { 'tus-resumable': '1.0.0' };

const CONTENTS: Readonly<Record<string, (ids: Ids) => Content>> = {
  // Its address is one that no backend may have.
  'POST /api/v1/cloud/backends': () => ({ body: { id: 'made', kind: 'openai', base_url: 'http://127.0.0.1:9/v1' } }),
  'PATCH /api/v1/cloud/backends/{id}': () => ({ body: { enabled: false } }),
  'PUT /api/v1/cloud/routes/{id}': () => ({ body: { targets: [{ backend: 'nobody', model: 'm' }] } }),
  'PUT /api/v1/cloud/prices': () => ({ body: { prices: {} } }),
  // A name that nobody has: a wrong password would lock the matrix's own accounts out.
  'POST /api/v1/auth/login': () => ({ body: { username: 'nobody', password: 'wrong horse battery' } }),
  'POST /api/v1/auth/register': ({ tenant }) => ({ body: { username: 'newcomer', password: 'short', tenant } }),
  'POST /api/v1/auth/reset-password': () => ({ body: { token: 'svcr_unknown', password: 'correct horse battery' } }),
  'POST /api/v1/auth/reset-password/request': ({ username }) => ({ body: { username } }),
  'GET /api/v1/auth/oidc/callback': () => ({ query: 'code=a&state=b' }),
  'DELETE /api/v1/edge/conversations': ({ conversation }) => ({ query: `id=${conversation}` }),
  'PATCH /api/v1/edge/conversations': ({ conversation, message }) => ({
    body: { id: conversation, title: 'Changed', current_message_id: message },
  }),
  'POST /api/v1/edge/conversations': ({ conversation }) => ({ body: { id: conversation, title: 'Taken' } }),
  'GET /api/v1/edge/conversations/export': ({ conversation }) => ({ query: `id=${conversation}` }),
  'POST /api/v1/edge/conversations/import': () => ({ body: '[]' }),
  'GET /api/v1/edge/conversations/messages': ({ conversation }) => ({ query: `id=${conversation}` }),
  'POST /api/v1/edge/conversations/messages': ({ conversation, message }) => ({
    body: { conversation_id: conversation, role: 'user', content: 'Hello', parent_id: message },
  }),
  'GET /api/v1/edge/conversations/files': ({ conversation }) => ({ query: `id=${conversation}` }),
  'POST /api/v1/edge/conversations/files': ({ conversation }) => ({
    query: `id=${conversation}&filename=made.txt`,
    body: 'Two lighthouses stand at the sea.',
  }),
  'GET /api/v1/edge/conversations/files/{file_id}': ({ conversation }) => ({ query: `id=${conversation}` }),
  'DELETE /api/v1/edge/conversations/files/{file_id}': ({ conversation }) => ({ query: `id=${conversation}` }),
  'POST /api/v1/edge/conversations/files/{file_id}/keep': ({ conversation, namespace }) => ({
    body: { id: conversation, namespace },
  }),
  'GET /api/v1/edge/conversations/streams': ({ conversation }) => ({ query: `id=${conversation}` }),
  'GET /api/v1/edge/conversations/search': () => ({ query: 'q=canary' }),
  'POST /api/v1/webhooks/{id}/secret': () => ({ body: { overlap_seconds: 60 } }),
  'PATCH /api/v1/edge/conversations/folders': () => ({ body: { folder: 'None', name: 'Other' } }),
  'POST /api/v1/edge/conversations/share': ({ conversation }) => ({ body: { id: conversation } }),
  'DELETE /api/v1/edge/conversations/share': ({ share }) => ({ query: `share=${share}` }),
  'GET /api/v1/edge/conversations/shared': ({ share }) => ({ query: `share=${share}` }),
  'GET /api/v1/edge/conversations/shares': ({ conversation }) => ({ query: `id=${conversation}` }),
  'POST /api/v1/artifacts': ({ artifact, conversation }) => ({
    body: { id: artifact, title: 'Made', kind: 'html', content: '<p>x</p>', conversation_id: conversation },
  }),
  'POST /api/v1/artifacts/{id}/versions': () => ({ body: { content: '<p>y</p>' } }),
  'POST /api/v1/artifacts/share/': ({ artifact }) => ({ body: { id: artifact } }),
  'POST /api/v1/edge/plugins/{id}/disable': () => ({}),
  'POST /api/v1/edge/plugins/{id}/enable': () => ({ body: {} }),
  'POST /api/v1/edge/prompts': ({ prompt }) => ({ body: { id: prompt, title: 'Made', content: 'x' } }),
  'PATCH /api/v1/edge/prompts/{id}': () => ({ body: { title: 'Changed' } }),
  'POST /api/v1/edge/prompts/shared': ({ prompt }) => ({ body: { id: prompt, title: 'Made', content: 'x' } }),
  'PATCH /api/v1/edge/prompts/shared/{id}': () => ({ body: { title: 'Changed' } }),
  'GET /api/v1/identity/keys': ({ user }) => ({ query: `user=${user}` }),
  'POST /api/v1/identity/keys': ({ user }) => ({ body: { name: 'made', user } }),
  'GET /api/v1/identity/capabilities': ({ user }) => ({ query: `user=${user}` }),
  'POST /api/v1/identity/capabilities': () => ({ body: { scopes: ['chat:use'], expires_in_seconds: 60 } }),
  'POST /api/v1/identity/capabilities/derive': () => ({ body: { token: 'bm90IGEgdG9rZW4', expires_in_seconds: 60 } }),
  'POST /api/v1/identity/capabilities/revoke': ({ capability }) => ({ body: { id: capability } }),
  'POST /api/v1/identity/groups': ({ tenant }) => ({ body: { name: 'made', tenant } }),
  'PATCH /api/v1/identity/groups/{id}': () => ({ body: { description: 'Changed' } }),
  'POST /api/v1/identity/groups/{id}/members': ({ user }) => ({ body: { users: [user] } }),
  'POST /api/v1/identity/invitations': ({ group }) => ({ body: { groups: [group] } }),
  'POST /api/v1/identity/tenants': ({ tenant }) => ({ body: { id: tenant } }),
  'PATCH /api/v1/identity/tenants/{id}': () => ({ body: { name: 'Changed' } }),
  // Names of accounts are unique in the whole installation, so a row that took a foreign one would be told so.
  'POST /api/v1/identity/users': ({ tenant }) => ({ body: { username: 'newcomer', tenant, role: 'viewer' } }),
  'PATCH /api/v1/identity/users/{id}': () => ({ body: { disabled: false } }),
  'POST /api/v1/inference/models/{id}/load': () => ({ body: { wait: true } }),
  'PUT /api/v1/inference/models/{id}/pin': () => ({ body: { pinned: true } }),
  'POST /api/v1/inference/models/{id}/unload': () => ({ body: { force: false } }),
  'DELETE /api/v1/inference/models/{id}': () => ({}),
  'PUT /api/v1/backup/destination': () => ({ body: {} }),
  'POST /api/v1/backup/restore': () => ({ body: {} }),
  'PUT /api/v1/backup/schedule': () => ({ body: { hours: 0, keep: 1 } }),
  'PUT /api/v1/license': () => ({ body: { format: 'svc-license-1', key: 'a', terms: 'b', signature: 'c' } }),
  // It is saved and not applied: no rsyslog is started.
  'PUT /api/v1/logs/rsyslog/config': () => ({
    body: {
      listen: [{ protocol: 'tcp', address: '127.0.0.1', port: 9 }],
      allowed_networks: ['127.0.0.1'],
      sources: [],
      classes: [],
      copies: ['/nowhere/a', '/nowhere/b'],
      retention: { days: 1, bytes: 1_000_000 },
    },
  }),
  'PUT /api/v1/metering/quotas': ({ user }) => ({ body: { user, requests_per_minute: null } }),
  'GET /api/v1/metering/usage': ({ tenant }) => ({ query: `by=user&tenant=${tenant}` }),
  'GET /api/v1/metering/usage/series': ({ tenant }) => ({ query: `by=user&tenant=${tenant}` }),
  'POST /mcp': ({ namespace }) => ({
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'knowledge_search',
        arguments: { query: 'canary', namespaces: [namespace] },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'matrix', version: '1' },
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    },
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'knowledge_search',
    },
  }),
  'POST /api/v1/models/probe': () => ({ body: { model: 'no-such-model' } }),
  'POST /api/v1/models/pull': () => ({ body: { reference: 'no-such-model' } }),
  // None is enabled, so that nothing is sent.
  'PATCH /api/v1/science/sources/{id}': () => ({ body: { enabled: false } }),
  'POST /api/v1/science/sources/request': () => ({ body: { source_id: 'gbif', reason: 'for the canary' } }),
  'POST /api/v1/science/query': () => ({ body: { query: 'canary', sources: ['gbif'] } }),
  'POST /api/v1/science/tools/execute': () => ({ body: { tool: 'science.gbif.species', arguments: { query: 'canary' } } }),
  'PUT /api/v1/security/enforcement': ({ tenant }) => ({ body: { mode: 'enforce', tenant } }),
  'POST /api/v1/security/approvals/{id}': () => ({ body: { decision: 'deny' } }),
  'POST /api/v1/system/jobs/{id}/cancel': () => ({}),
  'PUT /api/v1/system/roles/{role}': () => ({ body: { enabled: true } }),
  'PUT /api/v1/system/settings/{key}': () => ({ body: { value: 'info' } }),
  'POST /api/v1/system/settings/check': () => ({ body: { key: 'data_dir', value: '/nowhere' } }),
  // Nothing is sent, so that no row waits for a server that is not there.
  'PUT /api/v1/system/syslog/config': () => ({ body: { enabled: false } }),
  'PUT /api/v1/system/syslog/config/tenant/{tenant}': () => ({ body: { host: '127.0.0.1', port: 9 } }),
  'PUT /api/v1/tenants/{tenantId}/theme': () => ({ body: { name: 'Changed' } }),
  'PUT /api/v1/tenants/{tenantId}/branding/logo': () => ({ body: 'bytes' }),
  'POST /api/v1/users/me/links': () => ({ body: {} }),
  // Its address is one that no server may have.
  'POST /api/v1/tools/mcp-servers': () => ({ body: { label: 'made', url: 'http://127.0.0.1:9/mcp' } }),
  'PATCH /api/v1/tools/mcp-servers/{label}': () => ({ body: { enabled: false } }),
  'POST /api/v1/tools/mcp-servers/{label}/approve': () => ({ body: { hash: '0'.repeat(64) } }),
  'GET /api/v1/tools/mcp-servers/{label}/oauth/callback': () => ({ query: 'code=a&state=b' }),
  'POST /api/v1/tools/execute': ({ namespace }) => ({
    body: { tool: 'knowledge.search', arguments: { query: 'canary', namespaces: [namespace] } },
  }),
  // The policy that makes a call of the belongings ask.
  'PUT /api/v1/tools/policies': () => ({ body: ASKING_POLICY }),
  'PUT /api/v1/tools/search': () => ({ body: { provider: 'searxng', url: 'http://127.0.0.1:9/' } }),
  'PUT /api/v1/users/me/settings': () => ({ body: { theme: 'dark' } }),
  'POST /api/v1/users/me/api-key': ({ key }) => ({ query: `key_id=${key}` }),
  'POST /api/v1/identity/users/{id}/api-key': ({ key }) => ({ query: `key_id=${key}` }),
  'POST /api/v1/upload/init': ({ upload }) => ({ body: { upload_id: upload } }),
  'POST /api/v1/upload/chunk': ({ upload }) => ({
    body: 'bytes',
    headers: { 'x-upload-id': upload, 'x-chunk-index': '0' },
  }),
  'POST /api/v1/upload/finalize': ({ upload }) => ({ body: { upload_id: upload } }),
  'POST /api/v1/upload/tus': () => ({}),
  'PATCH /api/v1/upload/tus/{upload_id}': () => ({
    body: 'bytes',
    type: 'application/offset+octet-stream',
    headers: { ...TUS, 'upload-offset': '0' },
  }),
  'DELETE /api/v1/upload/tus/{upload_id}': () => ({ headers: TUS }),
  'POST /api/v1/vector/ingest': ({ tenant, namespace }) => ({
    body: { tenant, namespace, text: 'Two lighthouses.', source: 'made.txt' },
  }),
  'POST /api/v1/vector/namespaces/{tenant}': ({ namespace }) => ({ body: { namespace } }),
  'POST /api/v1/vector/namespaces/{tenant}/{namespace}': () => ({}),
  'PUT /api/v1/vector/namespaces/{tenant}/{namespace}': () => ({}),
  'PATCH /api/v1/vector/namespaces/{tenant}/{namespace}': () => ({}),
  'POST /api/v1/vector/namespaces/{tenant}/{namespace}/rebuild': () => ({}),
  'POST /api/v1/vector/search': ({ tenant, namespace }) => ({ body: { tenant, namespace, query: 'canary' } }),
  'POST /api/v1/webhooks': () => ({ body: { url: 'http://127.0.0.1:9/made', events: ['identity.none'] } }),
  'PATCH /api/v1/webhooks/{id}': () => ({ body: { enabled: true } }),
  'POST /scim/v2/Groups': ({ scimUser: member }) => ({ body: scimGroup('made', member) }),
  'PATCH /scim/v2/Groups/{id}': ({ scimUser: member }) => ({ body: patchOf({ members: [{ value: member }] }) }),
  'PUT /scim/v2/Groups/{id}': ({ scimUser: member }) => ({ body: scimGroup('changed', member) }),
  'POST /scim/v2/Users': () => ({ body: scimUser('newcomer-scim') }),
  'PATCH /scim/v2/Users/{id}': () => ({ body: patchOf({ active: true }) }),
  'PUT /scim/v2/Users/{id}': () => ({ body: scimUser('changed') }),
  'POST /tokenize': ({ model }) => ({ body: { model, content: 'Hello' } }),
  'POST /detokenize': ({ model }) => ({ body: { model, tokens: [1, 2] } }),
  'POST /v1/chat/completions': ({ model, conversation, namespace }) => ({
    body: { model, messages, conversation_id: conversation, knowledge: [namespace] },
  }),
  'POST /v1/embeddings': ({ model }) => ({ body: { model, input: 'Hello' } }),
  'POST /v1/cloud/embeddings': ({ model }) => ({ body: { model, input: 'Hello' } }),
  'POST /v1/inference/embeddings': ({ model }) => ({ body: { model, input: 'Hello' } }),
  'POST /v1/messages': ({ model }) => ({ body: { model, messages, max_tokens: 10 } }),
  'POST /v1/messages/count_tokens': ({ model }) => ({ body: { model, messages } }),
  'POST /v1/rerank': ({ model }) => ({ body: { model, query: 'a', documents: ['b'] } }),
  'POST /v1/files': () => ({ body: 'no form' }),
  'POST /v1/audio/transcriptions': () => ({ body: 'no form' }),
  'POST /v1/audio/translations': () => ({ body: 'no form' }),
  'POST /v1/vector_stores': ({ file }) => ({ body: { name: 'made', file_ids: [file] } }),
  'POST /v1/vector_stores/{vector_store_id}': () => ({ body: { metadata: { changed: 'yes' } } }),
  'POST /v1/vector_stores/{vector_store_id}/search': () => ({ body: { query: 'canary' } }),
  'POST /v1/vector_stores/{vector_store_id}/files': ({ file }) => ({ body: { file_id: file } }),
  'POST /v1/vector_stores/{vector_store_id}/files/{file_id}': () => ({ body: { attributes: { changed: true } } }),
  'POST /v1/vector_stores/{vector_store_id}/file_batches': ({ file }) => ({ body: { file_ids: [file] } }),
  'POST /v1/vector_stores/{vector_store_id}/file_batches/{batch_id}/cancel': () => ({}),
  'POST /v1/responses': ({ model, response }) => ({ body: { model, input: 'Hello', previous_response_id: response } }),
};

/** Undefined: the route needs a row and has none. */
export function contentOf(
  method: string,
  template: string,
  needsBody: boolean,
  ids: Ids,
): ({ path: string } & Omit<Content, 'query'>) | undefined {
  const content = CONTENTS[`${method} ${template}`];
  const params = PARAMS[`${method} ${template}`] ?? PARAMS[template];
  if ((needsBody && content === undefined) || (template.includes('{') && params === undefined)) return undefined;
  const values = [...(params?.(ids) ?? [])];
  const path = template.replace(/\{\w+\}/g, () => encodeURIComponent(values.shift() ?? ''));
  const { query, ...rest } = content?.(ids) ?? {};
  return { path: query === undefined ? path : `${path}?${query}`, ...rest };
}

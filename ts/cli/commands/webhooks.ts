/** `svc webhook`: addresses that a running node posts events to. */
import { usageError } from '../cli-error.ts';
import { command } from '../command.ts';
import { formatTable, printable } from '../format.ts';
import { clientOptions, ServerClient } from '../server-client.ts';

interface WebhookRecord {
  id: string;
  url: string;
  events: string[];
  enabled: boolean;
  disabled_reason: string | null;
  failing_since: string | null;
}

interface DeliveryRecord {
  id: string;
  type: string;
  state: string;
  attempts: number;
  created_at: string;
  last_status: number | null;
  last_error: string | null;
}

const path = '/api/v1/webhooks';
const id = { name: 'ID', help: 'id of the webhook, as `svc webhook list` shows it' };

export const webhookList = command({
  words: ['webhook', 'list'],
  summary: 'List the webhooks of the tenant',
  options: clientOptions,
  examples: ['svc webhook list'],
  async run(invocation) {
    const { terminal, signal } = invocation;
    const { data } = (await ServerClient.from(invocation).send('GET', path, undefined, signal)) as { data: WebhookRecord[] };
    const rows = data.map((hook) => [hook.id, stateOf(hook), printable(hook.url), hook.events.join(' ')]);
    terminal.result(data, formatTable(['ID', 'STATE', 'URL', 'EVENTS'], rows));
    return 'ok';
  },
});

export const webhookEvents = command({
  words: ['webhook', 'events'],
  summary: 'List the events that webhooks can be told of',
  options: clientOptions,
  examples: ['svc webhook events'],
  async run(invocation) {
    const { terminal, signal } = invocation;
    const { data } = (await ServerClient.from(invocation).send('GET', `${path}/events`, undefined, signal)) as {
      data: { type: string; description: string; needs_superadmin: boolean }[];
    };
    const rows = data.map(({ type, description, needs_superadmin: superadmin }) => [
      type,
      superadmin ? 'superadmin' : 'admin',
      description,
    ]);
    terminal.result(data, formatTable(['EVENT', 'FOR', 'WHEN'], rows));
    return 'ok';
  },
});

export const webhookCreate = command({
  words: ['webhook', 'create'],
  summary: 'Have events posted to an address; the secret for checking signatures is shown this once',
  positionals: [{ name: 'URL', help: 'https address of the receiver' }],
  options: {
    ...clientOptions,
    event: { kind: 'texts', value: 'EVENT', help: 'what to be told of, as `svc webhook events` lists it; may be repeated' },
    description: { kind: 'text', value: 'TEXT', help: 'what it is for' },
  },
  examples: ['svc webhook create https://hooks.example/svc --event identity.key-created --event jobs.failed'],
  async run(invocation) {
    const { positionals, options, terminal, signal } = invocation;
    const { event = [], description } = options;
    const body = { url: positionals[0] ?? '', events: event, ...(description !== undefined && { description }) };
    const hook = (await ServerClient.from(invocation).send('POST', path, body, signal)) as WebhookRecord & { secret: string };
    terminal.result(hook, `${hook.id}\nsecret (shown once): ${hook.secret}`);
    return 'ok';
  },
});

export const webhookRotate = command({
  words: ['webhook', 'rotate'],
  summary: 'Give a webhook a new secret, shown this once; the old one signs as well for a while',
  positionals: [id],
  options: {
    ...clientOptions,
    overlap: { kind: 'text', value: 'SECONDS', help: 'how long deliveries are signed with the old one too (default 86400)' },
  },
  examples: ['svc webhook rotate whk_0199a3b2-0000-7000-8000-000000000000 --overlap 3600'],
  async run(invocation) {
    const { positionals, options, terminal, signal } = invocation;
    const hook = encodeURIComponent(positionals[0] ?? '');
    const body = options.overlap === undefined ? {} : { overlap_seconds: secondsOf(options.overlap) };
    const answer = await ServerClient.from(invocation).send('POST', `${path}/${hook}/secret`, body, signal);
    const rotated = answer as { id: string; secret: string; previous_valid_until: string };
    terminal.result(rotated, `secret (shown once): ${rotated.secret}\nthe old one signs until ${rotated.previous_valid_until}`);
    return 'ok';
  },
});

function secondsOf(text: string): number {
  if (/^\d{1,7}$/.test(text)) return Number(text);
  throw usageError(`"${text}" is no number of seconds`, 'write for example 3600');
}

export const webhookEnable = command({
  words: ['webhook', 'enable'],
  summary: 'Enable a webhook again; what waited is sent',
  positionals: [id],
  options: clientOptions,
  examples: ['svc webhook enable whk_0199a3b2-0000-7000-8000-000000000000'],
  async run(invocation) {
    const { positionals, terminal, signal } = invocation;
    const hook = await ServerClient.from(invocation).send('PATCH', pathOf(positionals[0]), { enabled: true }, signal);
    terminal.result(hook, `${(hook as WebhookRecord).id} is enabled`);
    return 'ok';
  },
});

export const webhookRm = command({
  words: ['webhook', 'rm'],
  summary: 'Delete a webhook with its deliveries',
  positionals: [id],
  options: clientOptions,
  examples: ['svc webhook rm whk_0199a3b2-0000-7000-8000-000000000000'],
  async run(invocation) {
    const { positionals, terminal, signal } = invocation;
    await ServerClient.from(invocation).send('DELETE', pathOf(positionals[0]), undefined, signal);
    terminal.result({ id: positionals[0], deleted: true }, `${positionals[0]} is deleted`);
    return 'ok';
  },
});

export const webhookDeliveries = command({
  words: ['webhook', 'deliveries'],
  summary: 'Show what became of the deliveries of a webhook, newest first',
  positionals: [id],
  options: {
    ...clientOptions,
    state: { kind: 'choice', choices: ['pending', 'delivered', 'failed'], help: 'only those (default: all)' },
    limit: { kind: 'integer', value: 'N', min: 1, max: 200, help: 'lines (default 50)' },
  },
  examples: ['svc webhook deliveries whk_0199a3b2-0000-7000-8000-000000000000 --state failed'],
  async run(invocation) {
    const { positionals, options, terminal, signal } = invocation;
    const query = `?limit=${options.limit ?? 50}${options.state === undefined ? '' : `&state=${options.state}`}`;
    const { data } = (await ServerClient.from(invocation).send(
      'GET',
      `${pathOf(positionals[0])}/deliveries${query}`,
      undefined,
      signal,
    )) as {
      data: DeliveryRecord[];
    };
    const rows = data.map(({ id, type, state, attempts, created_at: at, last_status: status, last_error: error }) => [
      ...[id, at, type, state, String(attempts), printable(error ?? String(status ?? '-'))],
    ]);
    terminal.result(data, formatTable(['ID', 'AT', 'EVENT', 'STATE', 'ATTEMPTS', 'LAST ANSWER'], rows));
    return 'ok';
  },
});

export const webhookReplay = command({
  words: ['webhook', 'replay'],
  summary: 'Send a delivery again, under the same id',
  positionals: [id, { name: 'DELIVERY', help: 'id of the delivery, as `svc webhook deliveries` shows it' }],
  options: clientOptions,
  examples: ['svc webhook replay whk_0199a3b2-0000-7000-8000-000000000000 msg_0199a3b2-0000-7000-8000-000000000001'],
  async run(invocation) {
    const { positionals, terminal, signal } = invocation;
    const [hook, delivery = ''] = positionals;
    const replay = `${pathOf(hook)}/deliveries/${encodeURIComponent(delivery)}/replay`;
    const replayed = await ServerClient.from(invocation).send('POST', replay, undefined, signal);
    terminal.result(replayed, `${delivery} is sent again`);
    return 'ok';
  },
});

function pathOf(hook = ''): string {
  return `${path}/${encodeURIComponent(hook)}`;
}

function stateOf({ enabled, failing_since: failingSince }: WebhookRecord): string {
  if (!enabled) return 'disabled';
  return failingSince === null ? 'enabled' : 'failing';
}

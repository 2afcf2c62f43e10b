/** `svc webhook`: addresses that a running node posts events to. */
import type { Body } from '../../client/client.ts';
import { usageError } from '../cli-error.ts';
import { listCommand, requestCommand } from '../server-command.ts';

const id = { name: 'ID', help: 'id of the webhook, as `svc webhook list` shows it' };

export const webhookList = listCommand({
  words: ['webhook', 'list'],
  summary: 'List the webhooks of the tenant',
  examples: ['svc webhook list'],
  route: 'GET /api/v1/webhooks',
  columns: {
    ID: ({ id }) => id,
    STATE: ({ enabled, failing_since: since }) => (!enabled ? 'disabled' : since === null ? 'enabled' : 'failing'),
    URL: ({ url }) => url,
    EVENTS: ({ events }) => events.join(' '),
  },
});

export const webhookEvents = listCommand({
  words: ['webhook', 'events'],
  summary: 'List the events that webhooks can be told of',
  examples: ['svc webhook events'],
  route: 'GET /api/v1/webhooks/events',
  columns: {
    EVENT: ({ type }) => type,
    FOR: ({ needs_superadmin: isSuperadmin }) => (isSuperadmin ? 'superadmin' : 'admin'),
    WHEN: ({ description }) => description,
  },
});

export const webhookCreate = requestCommand({
  words: ['webhook', 'create'],
  summary: 'Have events posted to an address; the secret for checking signatures is shown this once',
  positionals: [{ name: 'URL', help: 'https address of the receiver' }],
  options: {
    event: { kind: 'texts', value: 'EVENT', help: 'what to be told of, as `svc webhook events` lists it; may be repeated' },
    description: { kind: 'text', value: 'TEXT', help: 'what it is for' },
  },
  examples: ['svc webhook create https://hooks.example/svc --event identity.key-created --event jobs.failed'],
  route: 'POST /api/v1/webhooks',
  // The server says which events there are.
  given: ({ positionals: [url = ''], options: { event = [], description } }) => ({
    body: { url, events: event as Body<'POST /api/v1/webhooks'>['events'], description },
  }),
  text: (hook) => `${hook.id}\nsecret (shown once): ${hook.secret}`,
});

export const webhookRotate = requestCommand({
  words: ['webhook', 'rotate'],
  summary: 'Give a webhook a new secret, shown this once; the old one signs as well for a while',
  positionals: [id],
  options: {
    overlap: { kind: 'text', value: 'SECONDS', help: 'how long deliveries are signed with the old one too (default 86400)' },
  },
  examples: ['svc webhook rotate whk_0199a3b2-0000-7000-8000-000000000000 --overlap 3600'],
  route: 'POST /api/v1/webhooks/{id}/secret',
  given: ({ positionals: [id = ''], options: { overlap } }) => ({
    params: { id },
    body: { overlap_seconds: overlap === undefined ? undefined : secondsOf(overlap) },
  }),
  text: ({ secret, previous_valid_until: until }) => `secret (shown once): ${secret}\nthe old one signs until ${until}`,
});

function secondsOf(text: string): number {
  if (/^\d{1,7}$/.test(text)) return Number(text);
  throw usageError(`"${text}" is no number of seconds`, 'write for example 3600');
}

export const webhookEnable = requestCommand({
  words: ['webhook', 'enable'],
  summary: 'Enable a webhook again; what waited is sent',
  positionals: [id],
  examples: ['svc webhook enable whk_0199a3b2-0000-7000-8000-000000000000'],
  route: 'PATCH /api/v1/webhooks/{id}',
  given: ({ positionals: [id = ''] }) => ({ params: { id }, body: { enabled: true } }),
  text: (hook) => `${hook.id} is enabled`,
});

export const webhookRm = requestCommand({
  words: ['webhook', 'rm'],
  summary: 'Delete a webhook with its deliveries',
  positionals: [id],
  examples: ['svc webhook rm whk_0199a3b2-0000-7000-8000-000000000000'],
  route: 'DELETE /api/v1/webhooks/{id}',
  given: ({ positionals: [id = ''] }) => ({ params: { id } }),
  text: (_, { positionals: [id] }) => `${id} is deleted`,
  record: (_, { positionals: [id] }) => ({ id, deleted: true }),
});

export const webhookDeliveries = listCommand({
  words: ['webhook', 'deliveries'],
  summary: 'Show what became of the deliveries of a webhook, newest first',
  positionals: [id],
  options: {
    state: { kind: 'choice', choices: ['pending', 'delivered', 'failed'], help: 'only those (default: all)' },
    limit: { kind: 'integer', value: 'N', min: 1, max: 200, help: 'lines (default 50)' },
  },
  examples: ['svc webhook deliveries whk_0199a3b2-0000-7000-8000-000000000000 --state failed'],
  route: 'GET /api/v1/webhooks/{id}/deliveries',
  given: ({ positionals: [id = ''], options: { state, limit = 50 } }) => ({ params: { id }, query: { limit, state } }),
  columns: {
    ID: ({ id }) => id,
    AT: ({ created_at: at }) => at,
    EVENT: ({ type }) => type,
    STATE: ({ state }) => state,
    ATTEMPTS: ({ attempts }) => attempts,
    'LAST ANSWER': ({ last_error: error, last_status: status }) => error ?? status,
  },
});

export const webhookReplay = requestCommand({
  words: ['webhook', 'replay'],
  summary: 'Send a delivery again, under the same id',
  positionals: [id, { name: 'DELIVERY', help: 'id of the delivery, as `svc webhook deliveries` shows it' }],
  examples: ['svc webhook replay whk_0199a3b2-0000-7000-8000-000000000000 msg_0199a3b2-0000-7000-8000-000000000001'],
  route: 'POST /api/v1/webhooks/{id}/deliveries/{delivery}/replay',
  given: ({ positionals: [id = '', delivery = ''] }) => ({ params: { id, delivery } }),
  text: (_, { positionals: [, delivery] }) => `${delivery} is sent again`,
});

/** Many messages over every kind of account on both databases, to providers that fail at random. SVC_TEST_MESSAGES sets how many. */
import type { Test } from 'tap';
import { iterations } from '../../../../test/test-support/iterations.ts';
import { random } from '../../../../test/test-support/seed.ts';
import { until } from '../../platform/jobs/test-support/open-jobs.ts';
import { systemScope } from '../../platform/storage/index.ts';
import { type NewDatabase, newUrl, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { developer, type Fault, mailServer, provider } from '../comm/test-support/comm-bed.ts';
import { openMessageBed } from './test-support/message-bed.ts';

/** A command of SMTP, and what the server answers. */
type Said = [command: string, answer: string];

const nMessages = iterations(105, 10_000, 'SVC_TEST_MESSAGES');
/** Those that wait for another try cost each batch up to a minute. */
const AT_A_TIME = Math.max(105, Math.ceil(nMessages / 10));
const BATCH_LIMIT_MS = 600_000;
const REQUEST_LIMIT_MS = 60_000;
const OPEN = ['queued', 'sending'];
/** A silent provider holds a place of the queue until the time limit: there are few of them. */
const FAULTS = ['cut-before', 'cut-during', 'cut-after', 'busy', 'broken', 'refuse'] as const satisfies readonly Fault[];
const ONE_SILENT_OF = 60;
const SAYS: readonly [Said, ...Said[]] = [
  ['RCPT', '450 try later'],
  ['RCPT', '550 no'],
  ['END', '451 busy'],
  ['END', '554 no'],
  ['END', 'drop'],
  ['DATA', 'drop'],
];

function testMessages(t: Test, newDatabase: NewDatabase): void {
  t.test(`of ${nMessages} messages to providers that fail none is accepted twice, and each has an end`, async (t) => {
    const server = await provider(t);
    const mail = await mailServer(t);
    const bed = await openMessageBed(t, { databaseUrl: await newUrl(t, newDatabase), settings: { 'comm.timeout_seconds': 1 } });
    const url = server.origin;
    const limits = { per_day: 1_000_000 };
    const kinds = [
      { kind: 'matrix', settings: { homeserver: url, user_id: '@svc:example.org' }, key: 'k', to: '!abc:example.org' },
      { kind: 'telegram', settings: { chat_ids: ['42'], url }, key: 'k', to: '42' },
      { kind: 'slack', settings: {}, key: `${url}/slack`, to: '' },
      { kind: 'teams', settings: {}, key: `${url}/teams`, to: '' },
      { kind: 'sms', settings: { url: `${url}/sms`, form: { text: '{text}' } }, to: '+491701234567' },
      { kind: 'webhook', settings: { url: `${url}/hook` }, key: 'c2VjcmV0', to: 'ops' },
      {
        kind: 'email',
        settings: { host: '127.0.0.1', port: mail.port, from: 'svc@example.org', tls: 'none' },
        to: 'ann@example.org',
      },
    ];
    const accounts = await Promise.all(
      kinds.map(async ({ to, ...account }) => ({
        kind: account.kind,
        to,
        id: await bed.add({ ...account, name: account.kind, limits }),
      })),
    );
    const access = bed.storage.access<{
      comm_messages: { id: string; account: string; state: string; sealed_body: string | null };
    }>();
    const messages = () =>
      access.read(systemScope(), (db) =>
        db.selectFrom('comm_messages').select(['id', 'account', 'state', 'sealed_body']).execute(),
      );
    const findOpen = () =>
      access.read(systemScope(), (db) =>
        db.selectFrom('comm_messages').select('id').where('state', 'in', OPEN).limit(1).executeTakeFirst(),
      );
    const marks = new Map<string, string>();
    for (let first = 0; first < nMessages; first += AT_A_TIME) {
      for (let i = 0; i < Math.min(AT_A_TIME, nMessages - first); i += 1) {
        const account = accounts[(first + i) % accounts.length];
        if (account === undefined) throw new Error('there is no account');
        if (random.integer(3) === 0) server.faults.push(random.integer(ONE_SILENT_OF) === 0 ? 'silent' : random.pick(FAULTS));
        if (random.integer(10) === 0) mail.says.set(...random.pick(SAYS));
        const mark = `mark-${first + i}-`;
        const request = { account_id: account.id, to: account.to, text: mark, idempotency_key: mark };
        // A database that is too busy refuses: the same key gives the first record, if there is one.
        const { body } = await until(
          () => bed.ask('POST', '/api/v1/comm/messages', developer, request),
          ({ status }) => status === 202,
          REQUEST_LIMIT_MS,
        );
        marks.set(body.message_id, mark);
      }
      await until(findOpen, (open) => open === undefined, BATCH_LIMIT_MS);
    }
    const rows = await messages();
    t.equal(rows.length, nMessages, 'none is lost');
    const accepted = new Map<string, Set<string>[]>();
    const note = (text: string, id: string): void => {
      const [mark = ''] = /mark-\d+-/.exec(text) ?? [];
      accepted.set(mark, [...(accepted.get(mark) ?? []), new Set([id])]);
    };
    for (const { path, body, headers } of server.accepted) note(decodeURIComponent(body), String(headers['webhook-id'] ?? path));
    for (const text of mail.accepted) note(text, '');
    const kindOf = new Map(accounts.map(({ id, kind }) => [id, kind]));
    const idsOf = (id: string): string[] => (accepted.get(marks.get(id) ?? '') ?? []).flatMap((ids) => [...ids]);
    const knows = (account: string): boolean => ['matrix', 'webhook'].includes(kindOf.get(account) ?? '');
    const wrong = rows.filter(({ id, account, state, sealed_body: body }) => {
      const ids = idsOf(id);
      if (!knows(account) && ids.length > 1) return true;
      if (knows(account) && new Set(ids).size > 1) return true;
      if (state === 'sent' && ids.length === 0) return true;
      if (state === 'failed' && ids.length > 0) return true;
      if ((body !== null) !== (state === 'outcome_unknown')) return true;
      return !['sent', 'failed', 'outcome_unknown'].includes(state);
    });
    t.strictSame(wrong, []);
    const nOf = [...Map.groupBy(rows, ({ state }) => state)].map(([state, of]) => `${of.length} ${state}`);
    t.comment(nOf.join(', '));
  });
}

onEachDatabase(testMessages, { timeoutMs: 240_000 + nMessages * 100 });

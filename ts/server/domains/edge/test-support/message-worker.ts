/**
 * A node that is made to be killed: it sends messages over an account that knows repetitions and one that does not, and prints a JSON line for each
 * that is on disk. Usage: node message-worker.ts DATABASE FOLDER PROVIDER. When its stdin ends, it waits until all have an end, says which, and ends.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Test } from 'tap';
import { systemScope } from '../../../platform/storage/index.ts';
import { admin, developer } from '../../comm/test-support/comm-bed.ts';
import { openMessageBed } from './message-bed.ts';

export interface CommLine {
  /** The mark of a message that is on disk, which its text holds. */
  readonly queued?: string;
  readonly kind?: Kind;
  /** The node says what became of all messages, of all lives. */
  readonly ended?: Readonly<Record<string, number>>;
}

/** Kinds of accounts, of which the webhook's provider knows a repetition by its id. */
export const KINDS = ['webhook', 'sms'] as const;
export type Kind = (typeof KINDS)[number];

const PAUSE_MS = 3;
const LOOK_MS = 20;

if (process.argv[1] === import.meta.filename) await work();

async function work(): Promise<void> {
  const [, , databaseUrl = '', dataDir = '', provider = ''] = process.argv;
  const say = (line: CommLine): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
  const teardowns: (() => unknown)[] = [];
  const t = { teardown: (each: () => unknown) => void teardowns.push(each) } as unknown as Test;
  const bed = await openMessageBed(t, { databaseUrl, dataDir, jobs: { leaseMs: 2_000 } });
  const accounts = await accountsOf(bed, provider);
  let isEnding = false;
  process.stdin.resume();
  process.stdin.once('end', () => {
    isEnding = true;
  });
  for (let i = 0; !isEnding; i += 1) {
    const kind = KINDS[i % KINDS.length] ?? 'sms';
    const mark = `mark-${process.pid}-${Date.now()}-${i}-`;
    const to = kind === 'sms' ? '+491701234567' : 'ops';
    const request = { account_id: accounts[kind], to, text: mark };
    const { status, text } = await bed.ask('POST', '/api/v1/comm/messages', developer, request);
    if (status !== 202) throw new Error(`${status} ${text}`);
    say({ queued: mark, kind });
    await wait(PAUSE_MS);
  }
  const access = bed.storage.access<{ comm_messages: { state: string } }>();
  for (;;) {
    const rows = await access.read(systemScope(), (db) => db.selectFrom('comm_messages').select('state').execute());
    if (rows.every(({ state }) => state !== 'queued' && state !== 'sending')) {
      const ended = Object.groupBy(rows, ({ state }) => state);
      say({ ended: Object.fromEntries(Object.entries(ended).map(([state, of]) => [state, of?.length ?? 0])) });
      break;
    }
    await wait(LOOK_MS);
  }
  for (const each of teardowns.toReversed()) await each();
}

/** The accounts of the first life. */
async function accountsOf(bed: Awaited<ReturnType<typeof openMessageBed>>, provider: string): Promise<Record<Kind, string>> {
  const { data } = (await bed.ask('GET', '/api/v1/comm/accounts', admin)).body as { data: { id: string; kind: Kind }[] };
  const settings = { webhook: { url: `${provider}/webhook` }, sms: { url: `${provider}/sms`, form: { text: '{text}' } } };
  const idOf = async (kind: Kind): Promise<string> =>
    data.find((one) => one.kind === kind)?.id ??
    (await bed.add({ kind, name: kind, settings: settings[kind], key: 'c2VjcmV0', limits: { per_day: 1_000_000 } }));
  return { webhook: await idOf('webhook'), sms: await idOf('sms') };
}

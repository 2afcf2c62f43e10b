/** Lines for a question of a chat: those that are about it, of those that the caller may read, with secrets masked and the read audited. */
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { newFolder } from '../../platform/files/test-support/new-folder.ts';
import { ANONYMOUS, type Principal } from '../../platform/http/principal.ts';
import { MetricsRegistry } from '../../platform/metrics/registry.ts';
import { silentLog } from '../../platform/module/test-support/scripted-context.ts';
import type { AuditEntry } from '../identity/index.ts';
import { wordsToFind } from './index/evidence.ts';
import { LogIndex } from './index/log-index.ts';
import { LogEvidence } from './log-evidence.ts';
import { madeLine, writeLines } from './test-support/made-copy.ts';

const NOW = Date.parse('2026-11-28T12:30:00Z');
const rcvd = '2026-11-28T12:10:00.000000+00:00';
const RANGE = { from: '-1h', to: 'now' };
const admin: Principal = { ...ANONYMOUS, kind: 'key', subject: 'ann', tenant: 'red', roles: ['admin'], scopes: ['*'] };
const superadmin: Principal = { ...admin, roles: ['superadmin'] };
const signal = new AbortController().signal;

async function open(t: Test, lines: readonly Parameters<typeof madeLine>[0][]) {
  const folder = newFolder(t, ['a']);
  const copy = join(folder, 'a');
  const made = lines.map((line) => madeLine({ rcvd, ...line }));
  writeLines(copy, made);
  const reading = { copy, copies: [copy], sources: [{ network: '10.1.0.0/16', class: 'other', tenant: 'red' }], networks: [] };
  const index = new LogIndex({
    dataDir: folder,
    log: silentLog,
    metrics: new MetricsRegistry(),
    now: () => NOW,
    storeUrl: '',
    reading: () => reading,
  });
  index.start();
  t.teardown(() => index.stop());
  const acts: AuditEntry[] = [];
  const state: { reading: typeof reading | undefined } = { reading };
  const evidence = new LogEvidence({
    collection: state,
    index,
    recordAct: async (act) => void acts.push(act),
    now: () => NOW,
  });
  const find = async (question: string, caller: Principal = superadmin, bounds: object = {}) =>
    await evidence.evidence({ caller, remoteAddress: '10.0.0.9', requestId: 'r' }, question, { ...RANGE, ...bounds }, signal);
  return { find, acts, made, state };
}

const messages = ({ lines }: { lines: readonly { line: { msg: string } }[] }): string[] => lines.map(({ line }) => line.msg);

t.test('the lines with the rarest words of a question come first, then the worst, and few of each shape', async (t) => {
  const { find } = await open(t, [
    ...Array.from({ length: 200 }, (_, i) => ({ msg: `the connection ${i} was opened` })),
    { msg: 'connection refused by 10.9.8.7' },
    { msg: 'the disk is on fire', severity: 1 },
  ]);
  const found = await find('Why was the connection to 10.9.8.7 refused?');
  t.equal(messages(found)[0], 'connection refused by 10.9.8.7');
  t.equal(messages(found).filter((msg) => msg.includes('was opened')).length, 3);
  t.equal(messages(found).at(-1), 'the disk is on fire');
  t.match(found, { isPartial: false, isArchived: false });
});

t.test('a question of no telling word has the worst and the newest lines', async (t) => {
  const { find } = await open(t, [{ msg: 'fine' }, { msg: 'broken', severity: 2 }]);
  for (const question of ['', 'What was that?', '"', '-x AND host:', '💥'])
    t.strictSame(messages(await find(question)), ['broken', 'fine']);
});

t.test('times and classes bound what is read, and firewall_allowed is archived', async (t) => {
  const { find } = await open(t, [{ msg: 'a', class: 'auth' }, { msg: 'b', class: 'firewall_allowed' }, { msg: 'c' }]);
  t.strictSame(messages(await find('x', superadmin, { class: 'auth' })), ['a']);
  t.strictSame(messages(await find('x', superadmin, { from: '-10m' })), []);
  t.match(await find('x', superadmin, { class: 'firewall_allowed' }), { lines: [], isArchived: true });
  for (const bounds of [{ from: 'yesterday' }, { to: 'x' }, { from: 'now', to: '-1h' }])
    await t.rejects(find('x', superadmin, bounds), { code: 'invalid_request' });
});

t.test('a tenant has lines of its own senders alone; nobody else has any, and no read is without its entry', async (t) => {
  const { find, acts, state } = await open(t, [
    { msg: 'own needle', fromhost_ip: '10.1.2.3' },
    { msg: 'foreign needle of tenant red', fromhost_ip: '10.2.2.3', host: '10.1.2.3' },
  ]);
  t.strictSame(messages(await find('needle', admin)), ['own needle']);
  t.equal(messages(await find('needle')).length, 2);
  t.match(acts, [
    { action: 'logs.chat', actor: 'user:ann', tenant: 'red', remoteAddress: '10.0.0.9', detail: RANGE },
    { action: 'logs.chat' },
  ]);
  t.notMatch(JSON.stringify(acts), 'needle', 'the question is not kept');
  for (const refused of [
    ANONYMOUS,
    { ...admin, roles: ['developer' as const] },
    { ...admin, scopes: ['chat:use'] },
    { ...superadmin, scopes: ['chat:use'] },
    { ...admin, tenant: 'blue' },
  ])
    await t.rejects(find('needle', refused), { code: 'forbidden' });
  state.reading = undefined;
  await t.rejects(find('needle'), { code: 'rsyslog_not_configured' });
  t.equal(acts.length, 2);
});

t.test('secrets are masked, and cannot be asked for', async (t) => {
  const { find } = await open(t, [{ msg: 'login password=hunter2hunter2 of ann' }]);
  const found = await find('whose password is hunter2hunter2 ?');
  t.strictSame(messages(found), ['login password=[redacted] of ann']);
});

t.test('words to find are whole tokens, the most telling first and few', (t) => {
  t.strictSame(wordsToFind('Which host at 10.1.2.3:22 failed for www.example.com, and why?'), [
    '10.1.2.3:22',
    'www.example.com',
    'failed',
    'host',
  ]);
  t.equal(wordsToFind(Array.from({ length: 500 }, (_, i) => `word${i}`).join(' ')).length, 8);
  t.end();
});

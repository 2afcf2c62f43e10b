/** The store finds what the files have: the same lines, in the same order, each once, whatever is killed between. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { startClickHouse, whyNoClickHouse } from '../../../../../test/clickhouse-process.ts';
import { iterations } from '../../../../../test/test-support/iterations.ts';
import { random } from '../../../../../test/test-support/seed.ts';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import { closeHour } from '../collection/closed-hour.ts';
import { listHourFiles } from '../collection/copy-files.ts';
import { madeLine, writeLines } from '../test-support/made-copy.ts';
import { ClickHouseLines } from './clickhouse.ts';
import type { LogLine } from './log-line.ts';
import { matcherOf, parseQuery } from './query.ts';
import { LogSearcher, type SearchRequest } from './search.ts';
import { ShippedLines } from './shipped-lines.ts';

const skip = whyNoClickHouse;
const BEGIN = Date.parse('2026-11-28T12:00:00Z');
const ALL: SearchRequest = {
  fromMs: BEGIN - 48 * 3_600_000,
  toMs: BEGIN + 48 * 3_600_000,
  classes: undefined,
  limit: 1_000,
  order: 'desc',
  cursor: undefined,
  nBuckets: 0,
  senders: undefined,
  timeLimitMs: 60_000,
};

t.setTimeout(300_000);

const below = (n: number): number => Math.floor(random.next() * n);
const iso = (ms: number): string => new Date(ms).toISOString().replace('Z', '000+00:00');

/** Lines of three hours and classes, of which some say another time than that of their reception. */
function manyLines(n: number): LogLine[] {
  return Array.from({ length: n }, () => {
    const rcvdMs = BEGIN + below(3 * 3_600) * 1_000;
    return madeLine({
      rcvd: iso(rcvdMs),
      ts: iso(below(5) === 0 ? rcvdMs - below(20 * 3_600_000) : rcvdMs),
      class: ['auth', 'web', 'other'][below(3)] ?? '',
      severity: below(8),
      fromhost_ip: `10.${below(2)}.0.${below(20)}`,
      msg:
        ['word7 — not foo_bar', `Word${below(50)} common`, 'naïve www.example.com:443 "quoted" \\ \u0007', '日本語 text'][
          below(4)
        ] ?? '',
    });
  });
}

async function open(t: Test, nLines: number) {
  const folder = newFolder(t, ['a', 'b']);
  const copies = [join(folder, 'a'), join(folder, 'b')] as const;
  const server = await startClickHouse(t, join(folder, 'clickhouse'));
  const lines = manyLines(nLines);
  for (const copy of copies) writeLines(copy, lines);
  const store = new ClickHouseLines(server.url);
  const ship = () => new ShippedLines(join(folder, 'store.json'), store);
  const copy = { path: copies[0], number: 0 };
  const searcher = new LogSearcher(join(folder, 'index'));
  const never = (): boolean => false;
  const inStore = (q: string, more: Partial<SearchRequest> = {}) =>
    store.search({ ...ALL, ...more }, matcherOf(parseQuery(q)), never);
  const inFiles = (q: string, more: Partial<SearchRequest> = {}) =>
    searcher.search(copy, { ...ALL, ...more }, matcherOf(parseQuery(q)), never);
  return { folder, copies, copy, server, lines, store, ship, inStore, inFiles };
}

/** Sends until nothing waits. */
async function shipAll(shipped: ShippedLines, copy: { path: string; number: number }, nowMs = BEGIN) {
  for (;;) {
    const state = await shipped.advance(copy, nowMs, 1_000);
    if (state.waitingBytes === 0) return state;
  }
}

t.test('every query finds in the store what it finds in the files', { skip }, async (t) => {
  const { ship, copy, inStore, inFiles } = await open(t, 3_000);
  const shipped = ship();
  t.match(await shipAll(shipped, copy), { nLines: 3_000, hoursLeft: 0, hoursMissed: 0 });
  t.ok(await shipped.covers(copy, ALL));
  const senders = { sources: [{ network: '10.1.0.0/16', tenant: 'red' }], tenant: 'red' };
  for (const q of [
    '',
    'common',
    'word7',
    'word1* -word11',
    '"not foo_bar"',
    'foo_bar',
    'foo',
    'naïve',
    'example.com',
    'www.example.com:443',
    '日本',
    'severity:3 host:h1',
    'ip:10.1.0.3',
    'class:auth common',
    '-common app:app',
  ])
    for (const more of [
      {},
      { order: 'asc' },
      { classes: ['auth', 'web'], nBuckets: 7 },
      { senders, nBuckets: 3, limit: 20 },
    ] as const) {
      const [found, wanted] = [await inStore(q, more), await inFiles(q, more)];
      const about = `${q} ${JSON.stringify(more)}`;
      t.strictSame(found.lines, wanted.lines, about);
      t.match(
        { next: found.next, counts: found.counts, isPartial: false },
        { next: wanted.next, counts: wanted.counts, isPartial: false },
        about,
      );
    }
  const pages: string[] = [];
  let cursor: SearchRequest['cursor'];
  do {
    const found = await inStore('', { limit: 370, cursor });
    pages.push(...found.lines.map(({ line }) => line.uuid));
    cursor = found.next;
  } while (cursor !== undefined);
  t.equal(new Set(pages).size, 3_000);
  t.equal(pages.length, 3_000);
});

t.test('a search whose time is over says so, and its cursor goes on', { skip }, async (t) => {
  const { ship, copy, store, inFiles } = await open(t, 5_000);
  await shipAll(ship(), copy);
  const matcher = matcherOf(parseQuery('-common'));
  const found: string[] = [];
  let cursor: SearchRequest['cursor'];
  let nPartial = 0;
  do {
    const page = await store.search({ ...ALL, limit: 10_000, cursor }, matcher, () => true);
    nPartial += page.isPartial ? 1 : 0;
    found.push(...page.lines.map(({ line }) => line.uuid));
    cursor = page.next;
  } while (cursor !== undefined);
  t.ok(nPartial >= 2, `${nPartial} pages`);
  t.strictSame(
    found,
    (await inFiles('-common', { limit: 10_000 })).lines.map(({ line }) => line.uuid),
  );
});

t.test(
  'hours of before are left until somebody asks for them, and a packed hour is sent again only if it must',
  { skip },
  async (t) => {
    const { ship, copy, copies, store, lines } = await open(t, 600);
    const later = BEGIN + 2 * 3_600_000;
    const shipped = ship();
    const first = await shipAll(shipped, copy, later);
    t.equal(first.hoursLeft, 6);
    t.notOk(await shipped.covers(copy, ALL));
    t.ok(await shipped.covers(copy, { ...ALL, classes: [] }));
    await shipped.migrate(later);
    t.match(await shipAll(shipped, copy, later), { hoursLeft: 0 });
    t.ok(await shipped.covers(copy, ALL));
    const extra = madeLine({ rcvd: iso(BEGIN), class: 'auth', msg: 'only in the other copy' });
    writeLines(copies[1], [extra]);
    for (const id of new Set((await listHourFiles(copies[0])).map(({ id }) => id))) await closeHour(copies, id, []);
    const again = ship();
    const sent = await shipAll(again, copy, later);
    const hour = extra.rcvd.slice(0, 13);
    const nOfHour = [...lines, extra].filter(({ class: name, rcvd }) => name === 'auth' && rcvd.startsWith(hour)).length;
    t.equal(sent.nLines, nOfHour, 'the hour with a line that the store lacked');
    t.equal(await store.countOf('auth', hour), nOfHour);
    for (const { path } of await listHourFiles(copies[0])) rmSync(path);
    t.match(await shipAll(again, copy, later), { hoursMissed: 0 }, 'what the store has may go');
  },
);

t.test('kill -9 of ClickHouse in inserts, and of whoever sends: nothing is lost or doubled', { skip }, async (t) => {
  const nLines = iterations(12_000, 60_000);
  const nKills = iterations(3, 12);
  const { ship, copy, server, lines, inStore } = await open(t, nLines);
  let shipped = ship();
  let nFailed = 0;
  for (let i = 0; i < nKills; i++) {
    const sending = shipped.advance(copy, BEGIN, 60_000).catch(() => {
      nFailed += 1;
    });
    await new Promise((resolve) => setTimeout(resolve, below(250)));
    await server.kill();
    await sending;
    await server.start();
    // It knows no more than what is written down.
    if (i % 2 === 1) shipped = ship();
  }
  await shipAll(shipped, copy);
  const found = new Set<string>();
  let cursor: SearchRequest['cursor'];
  let nFound = 0;
  do {
    const page = await inStore('', { cursor });
    for (const { line } of page.lines) found.add(line.uuid);
    nFound += page.lines.length;
    cursor = page.next;
  } while (cursor !== undefined);
  t.equal(found.size, lines.length, 'every line is there');
  t.equal(nFound, lines.length, 'each once');
  t.comment(`${nKills} kills, ${nFailed} of them while lines were sent, ${lines.length} lines`);
});

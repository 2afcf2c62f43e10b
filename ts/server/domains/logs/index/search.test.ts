/** Whatever state the index is in, a search finds what is in the files: each line once, in order, and nothing else. */
import { existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { random } from '../../../../../test/test-support/seed.ts';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import { closeHour } from '../collection/closed-hour.ts';
import { listHourFiles } from '../collection/copy-files.ts';
import { madeLine, writeLines, writeRaw } from '../test-support/made-copy.ts';
import { IndexedCopy } from './indexed-copy.ts';
import type { LogLine } from './log-line.ts';
import { matcherOf, parseQuery } from './query.ts';
import { type Found, LogSearcher, type SearchRequest } from './search.ts';

// Many searches of many pages.
t.setTimeout(240_000);

const HOUR = '2026-11-28T12';
const at = (iso: string): number => Date.parse(iso);
const ALL: SearchRequest = {
  fromMs: at('1900-01-01T00:00:00Z'),
  toMs: at('2200-01-01T00:00:00Z'),
  classes: undefined,
  limit: 1_000,
  order: 'desc',
  cursor: undefined,
  nBuckets: 0,
  senders: undefined,
  timeLimitMs: 60_000,
};

function openCopy(t: Test) {
  const folder = newFolder(t, ['a', 'b']);
  const copies = [join(folder, 'a'), join(folder, 'b')] as const;
  const index = join(folder, 'index');
  const copy = { path: copies[0], number: 0 };
  const indexed = new IndexedCopy(index);
  const searcher = new LogSearcher(index);
  const search = (q = '', more: Partial<SearchRequest> = {}): Promise<Found> =>
    searcher.search(copy, { ...ALL, ...more }, matcherOf(parseQuery(q)), () => false);
  return {
    copies,
    index,
    copy,
    search,
    searchAgain: () => new LogSearcher(index).search(copy, ALL, matcherOf([]), () => false),
    advance: (budgetMs = 60_000) => indexed.advance(copy, budgetMs),
    rebuild: () => indexed.rebuild(),
    uuids: async (q = '', more: Partial<SearchRequest> = {}) => (await search(q, more)).lines.map(({ line }) => line.uuid),
  };
}

/** Every page of a search. */
async function pages(
  search: (q: string, more: Partial<SearchRequest>) => Promise<Found>,
  q: string,
  more: Partial<SearchRequest>,
) {
  const lines: LogLine[] = [];
  let cursor: SearchRequest['cursor'];
  do {
    const found = await search(q, { ...more, cursor });
    lines.push(...found.lines.map(({ line }) => line));
    cursor = found.next;
  } while (cursor !== undefined);
  return lines;
}

const iso = (ms: number): string => new Date(ms).toISOString().replace('Z', '000+00:00');
const below = (n: number): number => Math.floor(random.next() * n);

/** Lines of three hours and classes, of which some say another time than that of their reception. */
function manyLines(n: number, most = 0): LogLine[] {
  const begin = at(`${HOUR}:00:00Z`);
  return Array.from({ length: n }, () => {
    const rcvdMs = begin + below(3 * 3_600) * 1000;
    const tsMs = below(5) === 0 ? rcvdMs - below(20 * 3_600_000) : rcvdMs;
    return madeLine({
      rcvd: iso(rcvdMs),
      ts: iso(tsMs),
      class: ['auth', 'web', 'other'][below(3)] ?? '',
      severity: below(8),
      msg: `word${below(50)} common ${'x'.repeat(below(most + 1))}`,
    });
  });
}

function expected(lines: readonly LogLine[], test: (line: LogLine) => boolean, order: 'asc' | 'desc'): string[] {
  const sign = order === 'asc' ? 1 : -1;
  const key = ({ ts, uuid }: LogLine): string => `${ts}${uuid}`;
  return lines
    .filter(test)
    .toSorted((a, b) => sign * (key(a) < key(b) ? -1 : 1))
    .map(({ uuid }) => uuid);
}

t.test('pages give every line once and in order, with the index, without it, and while hours are packed', async (t) => {
  const { copies, search, advance, rebuild, index } = openCopy(t);
  const lines = manyLines(2_000, 900);
  for (const copy of copies) writeLines(copy, lines);
  const check = async (state: string): Promise<void> => {
    for (const order of ['asc', 'desc'] as const)
      for (const [q, test] of [
        ['', () => true],
        ['word7', ({ msg }) => msg.startsWith('word7 ')],
        [
          'word1* severity:3 -word11',
          ({ msg, severity }) => /^word1\d? /.test(msg) && !msg.startsWith('word11 ') && severity <= 3,
        ],
        ['class:auth common', (line) => line.class === 'auth'],
      ] as const satisfies readonly (readonly [string, (line: LogLine) => boolean])[]) {
        const found = await pages(search, q, { order, limit: 370 });
        t.strictSame(
          found.map(({ uuid }) => uuid),
          expected(lines, test, order),
          `${state}: ${q} ${order}`,
        );
      }
  };
  await check('no index');
  await advance(0);
  await check('a part of the index');
  t.match(await advance(), { isDone: true });
  t.ok(readdirSync(index).length > 0);
  await check('open hours');
  const ids = (await listHourFiles(copies[0])).map(({ id }) => id);
  await closeHour(copies, ids[0] ?? '', []);
  await check('an hour that was packed and not indexed again');
  for (const id of ids.slice(1)) await closeHour(copies, id, []);
  t.match(await advance(), { isDone: true, nLines: 2_000, nQuarantined: 0 });
  await check('packed hours');
  await rebuild();
  await check('the index is gone');
});

t.test('a time range, a class and a severity bound what is read, and a rare word reads few frames', async (t) => {
  const { copies, search, advance } = openCopy(t);
  const lines = manyLines(4_000, 900);
  const rare = madeLine({ rcvd: '2026-11-28T13:00:00.000000+00:00', msg: 'the needle-in-a-haystack 203.0.113.7', class: 'web' });
  for (const copy of copies) writeLines(copy, [...lines, rare]);
  for (const { id } of await listHourFiles(copies[0])) await closeHour(copies, id, []);
  const { nLines, sizeBytes } = await advance();
  t.equal(nLines, 4_001);
  const all = await search('', { nBuckets: 1 });
  t.ok(sizeBytes < all.nBytes * 0.06, `the index has ${((100 * sizeBytes) / all.nBytes).toFixed(1)} % of the lines`);
  for (const q of ['needle', '203.0.113.7', 'needle-in-a-haystack', '"the needle"', rare.uuid, `uuid:${rare.uuid}`]) {
    const found = await search(q);
    t.strictSame(
      found.lines.map(({ line }) => line.uuid),
      [rare.uuid],
      q,
    );
    t.ok(found.nFrames <= 2, `${q} reads ${found.nFrames} of ${all.nFrames} frames`);
  }
  t.equal((await search('absent')).nFrames, 0);
  const from = at('2026-11-28T12:30:00Z');
  const bounds = { fromMs: from, toMs: from + 600_000, classes: ['auth'] };
  const isInside = ({ ts, class: name }: LogLine): boolean => name === 'auth' && at(ts) >= from && at(ts) < from + 600_000;
  t.strictSame(
    (await search('', bounds)).lines.map(({ line }) => line.uuid),
    expected(lines, isInside, 'desc'),
  );
  const { counts } = await search('common', { ...bounds, classes: undefined, nBuckets: 10, limit: 1 });
  const ofBucket = (i: number): number =>
    lines.filter(({ ts }) => at(ts) >= from + i * 60_000 && at(ts) < from + (i + 1) * 60_000).length;
  t.strictSame(
    counts,
    Array.from({ length: 10 }, (_, i) => ofBucket(i)),
  );
});

t.test('an index that is deleted, cut or damaged while it serves costs time and no line', async (t) => {
  const { copies, uuids, searchAgain, advance, index } = openCopy(t);
  const lines = manyLines(2_000, 900);
  for (const copy of copies) writeLines(copy, lines);
  for (const { id } of (await listHourFiles(copies[0])).slice(0, 4)) await closeHour(copies, id, []);
  await advance();
  const whole = expected(lines, () => true, 'desc').slice(0, 1_000);
  const files = (): string[] =>
    (readdirSync(index, { recursive: true }) as string[])
      .filter((name) => name.endsWith('.idx'))
      .map((name) => join(index, name));
  const indexes = files();
  t.ok(indexes.length >= 6);
  const harms: Record<string, (path: string) => void> = {
    cut: (path) => truncateSync(path, Math.floor(statSync(path).size * random.next())),
    'a flipped byte': (path) => {
      const bytes = readFileSync(path);
      const place = below(bytes.length);
      bytes.writeUInt8((bytes[place] ?? 0) ^ 0x10, place);
      writeFileSync(path, bytes);
    },
    deleted: (path) => rmSync(path),
    'of other bytes': (path) => writeFileSync(path, `packed 1 2\n${'z'.repeat(500)}`),
    torn: (path) => writeFileSync(path, readFileSync(path).subarray(0, -3)),
    empty: (path) => writeFileSync(path, ''),
  };
  for (const [what, harm] of Object.entries(harms)) {
    for (const path of files()) harm(path);
    t.strictSame(
      (await searchAgain()).lines.map(({ line }) => line.uuid),
      whole,
      `${what}, read for the first time`,
    );
    t.strictSame(await uuids('common'), whole, what);
    t.match(await advance(), { isDone: true, nLines: await indexedLines(copies[0]) }, `${what}: it is made again`);
    t.strictSame(await uuids('common'), whole);
  }
  rmSync(index, { recursive: true });
  t.strictSame(await uuids('common'), whole, 'all of it is gone');
  await advance();
  t.ok(existsSync(index));
});

/** Counts all lines of packed hours, and of open ones those of whole frames. */
async function indexedLines(copy: string): Promise<number> {
  const scratch = `${copy}-scratch`;
  const { nLines } = await new IndexedCopy(scratch).advance({ path: copy, number: 0 }, 60_000);
  rmSync(scratch, { recursive: true });
  return nLines;
}

t.test('hostile lines stop nothing, forge nothing, and what can be read is found', async (t) => {
  const { copies, search, advance, index } = openCopy(t);
  const good = Array.from({ length: 20 }, () => madeLine({ msg: 'good one' }));
  const json = good.map((line) => JSON.stringify(line));
  const [first = '', second = '', third = '', ...rest] = json;
  const hostile = [
    first + second,
    third.slice(0, 60),
    `{"uuid":"torn${rest[0]}`,
    '{"uuid":"',
    'no JSON at all',
    '\u0000\u0000\u0000',
    '{}',
    'null',
    '[1,2]',
    '"text"',
    JSON.stringify({ ...good[9], uuid: 'short' }),
    JSON.stringify({ ...good[9], msg: 7 }),
    JSON.stringify({ ...good[9], rcvd: 'never' }),
    JSON.stringify(madeLine({ msg: '{"uuid":"00000000000000000000000000000000","msg":"forged"}' })),
    JSON.stringify({ ...madeLine({ msg: 'polluted' }), __proto__: { admin: true } }),
    '{'.repeat(5_000),
    `${'['.repeat(20_000)}`,
    `{"uuid":"${'A'.repeat(300_000)}"}`,
  ];
  const bytes = Buffer.concat([
    Buffer.from(`${hostile.join('\n')}\n`),
    Buffer.from([0xff, 0xfe, 0xc3, 0x28, 0x0a]),
    Buffer.from(`${rest.slice(1).join('\n')}\n\n\n`),
  ]);
  for (const copy of copies) writeRaw(copy, `other/${HOUR}`, bytes.toString('latin1'));
  const check = async (state: string): Promise<void> => {
    // The third was torn, and nothing of it can be used.
    t.equal((await search('"good one"')).lines.length, 19, state);
    t.strictSame(
      (await search('forged')).lines.map(({ line }) => line.msg.slice(0, 9)),
      ['{"uuid":"'],
      'it is a text',
    );
    t.equal((await search('uuid:00000000000000000000000000000000')).lines.length, 0);
    t.equal((await search('polluted')).lines.length, 1);
  };
  await check('without an index');
  await closeHour(copies, `other/${HOUR}`, []);
  const state = await advance();
  t.equal(state.isDone, true);
  t.ok(state.nQuarantined >= 13, `${state.nQuarantined} are quarantined`);
  t.match(
    readFileSync(join(index, 'quarantine.jsonl'), 'utf8'),
    /^\{"file":".*other\/2026-11-28T12\.jsonl\.zst","frame":\d+,"offset":\d+\}\n/,
  );
  await check('with one');
});

t.test('clocks from 1970 to 2099 and no clocks at all count by when they were received', async (t) => {
  const { copies, search } = openCopy(t);
  const rcvd = '2026-11-28T12:00:00.000000+00:00';
  const cases = [
    ['1970-01-01T00:00:00Z', 'rcvd'],
    ['2099-12-31T23:59:59Z', 'rcvd'],
    ['2026-11-28T12:05:00Z', 'ts'],
    ['2026-11-28T12:05:01Z', 'rcvd'],
    ['2026-11-27T12:00:00Z', 'ts'],
    ['2026-11-27T11:59:59Z', 'rcvd'],
    ['2026-11-28T13:00:00+01:00', 'ts'],
    ['2026-02-30T12:00:00Z', 'rcvd'],
    ['Nov 28 12:00:00', 'rcvd'],
    ['', 'rcvd'],
  ] as const;
  const lines = cases.map(([ts]) => madeLine({ ts, rcvd }));
  writeLines(copies[0], lines);
  const { lines: found } = await search();
  for (const [i, [ts, source]] of cases.entries())
    t.match(
      found.find(({ line }) => line.uuid === lines[i]?.uuid),
      { source, atMs: source === 'ts' ? at(ts) : at(rcvd) },
      ts,
    );
});

t.test('a search whose time is over says so, and its pages lead to the rest', async (t) => {
  const { copies, search, advance } = openCopy(t);
  const lines = manyLines(3_000, 900);
  for (const copy of copies) writeLines(copy, lines);
  for (const { id } of await listHourFiles(copies[0])) await closeHour(copies, id, []);
  await advance();
  const first = await search('common', { timeLimitMs: 0, limit: 10 });
  t.equal(first.isPartial, true);
  t.equal(first.nFrames, 1);
  const found = await pages(search, 'common', { timeLimitMs: 20, limit: 300 });
  t.strictSame(new Set(found.map(({ uuid }) => uuid)).size, found.length, 'no line comes twice');
});

t.test(
  'lines of an hour that lies in two files for a moment come once; archived ones and those of the service never',
  async (t) => {
    const { copies, search, advance } = openCopy(t);
    const lines = Array.from({ length: 50 }, () => madeLine());
    for (const copy of copies) writeLines(copy, lines);
    await closeHour(copies, `other/${HOUR}`, []);
    writeLines(copies[0], lines.slice(0, 20));
    writeLines(copies[0], [madeLine({ class: 'firewall_allowed' }), madeLine({ class: 'canary' })]);
    for (const state of ['open', 'indexed']) {
      const found = await search('', { nBuckets: 1 });
      t.equal(found.lines.length, 50, state);
      t.strictSame(found.counts, [50]);
      t.match(await advance(), { nQuarantined: 0 });
    }
    t.equal((await search('', { classes: ['firewall_allowed', 'canary'] })).lines.length, 0);
  },
);

t.test('secrets are in no answer and in no index', async (t) => {
  const { copies, search, advance } = openCopy(t);
  const secret = 'hunter2hunter2';
  const lines = [
    madeLine({ msg: `login password=${secret} ok` }),
    madeLine({ msg: `{"api_key":"${secret}"}` }),
    madeLine({ msg: `url https://ann:${secret}@db.example/` }),
  ];
  for (const copy of copies) writeLines(copy, lines);
  await closeHour(copies, `other/${HOUR}`, []);
  for (const state of ['without an index', 'with one']) {
    t.notMatch(JSON.stringify(await search()), secret, state);
    for (const q of [secret, `"${secret}"`, `${secret}*`, 'hunter2*'])
      t.equal((await search(q)).lines.length, 0, `${q} ${state}`);
    t.equal((await search('redacted')).lines.length, 3, 'the mask is found');
    t.match(await advance(), { nRedacted: 3 });
  }
  t.equal((await search(secret)).nFrames, 0, 'the index does not know it');
});

t.test('a tenant reads lines by the address of the sender, whatever they say', async (t) => {
  const { copies, search } = openCopy(t);
  const lines = ['10.1.0.5', '10.2.0.5', '::ffff:10.1.0.6', '192.168.0.1'].map((ip) =>
    madeLine({ fromhost_ip: ip, host: '10.1.0.5', msg: 'tenant acme' }),
  );
  writeLines(copies[0], lines);
  const sources = [
    { network: '10.1.9.0/24' },
    { network: '10.1.0.0/16', tenant: 'acme' },
    { network: '10.0.0.0/8', tenant: 'other' },
  ];
  const found = await search('', { senders: { sources, tenant: 'acme' } });
  t.strictSame(found.lines.map(({ line }) => line.uuid).sort(), [lines[0]?.uuid, lines[2]?.uuid].sort());
});

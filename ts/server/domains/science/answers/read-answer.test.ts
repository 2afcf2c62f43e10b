/** Answers as the sources document them become records, and mutated ones never anything but records or an AnswerFault. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { iterations } from '../../../../../test/test-support/iterations.ts';
import { CATEGORIES } from '../../../platform/module/module-names.ts';
import type { Adapter, Operation } from '../adapters/adapter.ts';
import { findAdapterFault } from '../adapters/check-adapter.ts';
import { packagedAdapters } from '../adapters/packaged.ts';
import { dateOf } from './field.ts';
import { AnswerFault, type AnswerPage, readAnswer, readIds } from './read-answer.ts';
import { valuesAt } from './value-at.ts';

const folder = join(import.meta.dirname, '..', 'test-support');
const at = new Date('2026-11-28T12:00:00Z');
const expected = JSON.parse(readFileSync(join(folder, 'expected-records.json'), 'utf8')) as Record<string, unknown>;
const operations = packagedAdapters.flatMap((adapter) =>
  Object.entries(adapter.operations).map(([name, operation]) => ({ adapter, name, operation, key: `${adapter.id}.${name}` })),
);

function sample(key: string, form: string): string {
  return readFileSync(join(folder, 'answers', `${key}.${form}`), 'utf8');
}

function readSample(adapter: Adapter, operation: Operation, key: string): AnswerPage {
  return readAnswer(adapter, operation, sample(key, operation.form), at);
}

t.test('the program brings sources of each category, and each file is an adapter', async (t) => {
  t.ok(packagedAdapters.length >= 24, `${packagedAdapters.length} sources`);
  t.strictSame([...new Set(packagedAdapters.map(({ category }) => category))].sort(), [...CATEGORIES].sort());
  for (const adapter of packagedAdapters) {
    t.equal(findAdapterFault(adapter), undefined, adapter.id);
    t.match(adapter.base_url, /^https:/);
  }
  const files = readdirSync(join(import.meta.dirname, '..', 'adapters', 'sources'));
  t.strictSame(files.sort(), packagedAdapters.map(({ id }) => `${id}.json`).sort());
});

for (const { adapter, operation, key } of operations) {
  t.test(`${key}: the documented answer becomes records`, async (t) => {
    const page = readSample(adapter, operation, key);
    t.strictSame(JSON.parse(JSON.stringify(page)), expected[key]);
    if (operation.first !== undefined) t.equal(readIds(operation.first, sample(`${adapter.id}.first`, 'json')).ids.length, 1);
  });
}

t.test('an adapter that says what cannot be is refused by a sentence', async (t) => {
  const [adapter] = packagedAdapters as readonly [Adapter];
  const [name, operation] = Object.entries(adapter.operations)[0] as [string, Operation];
  const changed = (changes: object) => ({ ...adapter, operations: { [name]: { ...operation, ...changes } } });
  const request = (path: string, query = {}) => ({ request: { path, query } });
  const cases: [unknown, RegExp][] = [
    [{ ...adapter, category: 'astrology' }, /category/],
    [{ ...adapter, id: 'Two_Words' }, /id/],
    [{ ...adapter, surprise: true }, /surprise/],
    [{ ...adapter, hosts: ['https://example.org'] }, /one origin/],
    [changed(request('/x/{nothing}')), /stands for no parameter/],
    [changed(request('/x', { q: '{query|shout}' })), /names no filter/],
    [changed(request('https://elsewhere.org/x')), /neither with \/ nor/],
    [changed({ ...request('/x/{cursor}') }), /required or has a default/],
    [changed({ parameters: {} }), /is_query/],
    [changed({ paging: { by: 'cursor' } }), /needs next/],
    [[], /adapter/],
  ];
  for (const [value, sentence] of cases) t.match(findAdapterFault(value), sentence);
});

t.test('paths lead through lists, places and members that have a text', async (t) => {
  const record = { a: [{ b: 1 }, { b: [2, 3] }], c: { x: { n: 'one' }, y: { n: 'two' } }, d: [['p', 'q']] };
  const values = (path: string) => valuesAt({ record, root: { r: 9 } }, path);
  t.strictSame(values('a/b'), [1, 2, 3]);
  t.strictSame(values('a/1/b/0'), [2]);
  t.strictSame(values('c/*/n'), ['one', 'two']);
  t.strictSame(values('a[b=1]/b'), [1]);
  t.strictSame(values('d'), ['p', 'q']);
  t.strictSame(values('^/r'), [9]);
  t.strictSame([...values('__proto__/x'), ...values('constructor'), ...values('a/b/c'), ...values('nothing')], []);
});

t.test('dates are as exact as the source has them', async (t) => {
  for (const [given, read] of [
    ['2024', '2024'],
    ['2024-3', '2024-03'],
    ['2024/03/05 00:00', '2024-03-05T00:00'],
    ['2024 Mar 15', '2024-03-15'],
    ['2024 Mar', '2024-03'],
    ['20240315', '2024-03-15'],
    ['2016-02-00', '2016-02'],
    ['2024-03-05T10:00:00.5Z', '2024-03-05T10:00:00.5Z'],
    ['2024-03-05Tea', '2024-03-05'],
    ['2024-13', undefined],
    ['soon', undefined],
    ['', undefined],
  ] as const)
    t.equal(dateOf(given), read, given);
});

t.test('answers that were mutated are records or a fault, in bounded time', { timeout: 900_000 }, async (t) => {
  // The issue asks for 5,000 a source; each run of `npm test` tries some.
  const nRuns = iterations(60, 5_000);
  for (const { adapter, operation, key } of operations) {
    const text = sample(key, operation.form);
    const property = fc.property(mutations(text), (mutated) => {
      const startedAt = performance.now();
      const read = tryRead(() => readAnswer(adapter, operation, mutated, at));
      for (const { title, url, date, values = [] } of read?.records ?? []) {
        if (typeof title !== 'string' || title === '') throw new Error('a record without a title');
        if (url !== null && !/^https?:/i.test(url)) throw new Error(`the address ${url}`);
        if (date !== null && !/^\d{4}/.test(date)) throw new Error(`the date ${date}`);
        if (values.some(({ value }) => typeof value === 'number' && !Number.isFinite(value))) throw new Error('a value');
      }
      JSON.stringify(read);
      // A process that is stopped for a while is slow as well: only what is far beyond it counts.
      if (performance.now() - startedAt > 20_000) throw new Error('it took too long');
    });
    fc.assert(property, { numRuns: nRuns, endOnFailure: true });
  }
  t.pass(`${nRuns} mutations of each of ${operations.length} answers`);
});

t.test('XML that would grow, and values that lie deep, are faults', async (t) => {
  const [arxiv, crossref] = ['arxiv', 'crossref'].map((id) => packagedAdapters.find((one) => one.id === id)) as [
    Adapter,
    Adapter,
  ];
  const refused = (adapter: Adapter, text: string) =>
    t.throws(() => readAnswer(adapter, adapter.operations['search'] as Operation, text, at), AnswerFault);
  const bomb = '<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><feed><entry><id>&b;</id></entry></feed>';
  for (const xml of [bomb, '<!DOCTYPE feed SYSTEM "file:///etc/passwd"><feed/>', '<feed>', '', 'text', '<a>'.repeat(5_000)])
    refused(arxiv, xml);
  for (const json of ['', '<html>', '['.repeat(100_000), `${'['.repeat(80)}${']'.repeat(80)}`, 'nul']) refused(crossref, json);
  const entry = '<entry><id>x</id><title>&custom; a &amp; b &#x3c;</title></entry>';
  const { records } = readAnswer(arxiv, arxiv.operations['search'] as Operation, `<feed>${entry}</feed>`, at);
  t.equal(records[0]?.title, '&custom; a & b <', 'an entity of its own stays as it is written');
});

function tryRead(read: () => AnswerPage): AnswerPage | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof AnswerFault) return undefined;
    throw error;
  }
}

/** Bytes changed, parts cut out, doubled and put elsewhere, and values of other kinds in the place of texts. */
function mutations(text: string): fc.Arbitrary<string> {
  const place = fc.nat({ max: text.length });
  const odd = fc.constantFrom(
    'null',
    '[]',
    '{}',
    '1e999',
    '"',
    '<',
    '&',
    '\0',
    '\ud800',
    '-1',
    '{"a":',
    ']]>',
    '<!DOCTYPE a>',
    '\uFEFF',
    ',,,',
  );
  const edit = fc.oneof(
    fc.tuple(place, odd).map(
      ([i, what]) =>
        (from: string) =>
          from.slice(0, i) + what + from.slice(i + what.length),
    ),
    fc.tuple(place, place).map(
      ([i, j]) =>
        (from: string) =>
          from.slice(0, Math.min(i, j)) + from.slice(Math.max(i, j)),
    ),
    fc.tuple(place, place, place).map(([i, j, k]) => (from: string) => {
      const part = from.slice(Math.min(i, j), Math.max(i, j));
      return from.slice(0, k) + part + from.slice(k);
    }),
    fc.tuple(fc.nat({ max: 40 }), odd).map(([n, what]) => (from: string) => {
      const texts = [...from.matchAll(/"[^"\\]*"|>[^<]+</g)];
      const found = texts[n % Math.max(1, texts.length)];
      return found === undefined ? what : from.slice(0, found.index) + what + from.slice(found.index + found[0].length);
    }),
  );
  return fc.array(edit, { minLength: 1, maxLength: 4 }).map((edits) => edits.reduce((from, change) => change(from), text));
}

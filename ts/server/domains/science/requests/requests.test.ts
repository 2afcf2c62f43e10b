/** Addresses, limits that sources say, and requests that are shared. */
import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import t from 'tap';
import { iterations } from '../../../../../test/test-support/iterations.ts';
import { packagedAdapters } from '../adapters/packaged.ts';
import { readLimits } from './rate-headers.ts';
import { SharedAnswers } from './shared-answers.ts';
import { AddressFault, addressOf } from './template.ts';

const BASE = { base_url: 'https://api.example.org/v1' };

t.test('an address has what was given, and leaves out what was not', async (t) => {
  const template = {
    path: '/works/{id}',
    query: {
      q: '{query|json}',
      from: '{from}',
      filter: { join: ['from:{from}', 'to:{to}', 'kind:all'], with: ',' },
      ids: '[{ids|quoted}]',
    },
  };
  const url = addressOf(BASE, template, { id: '10.1/a b', query: 'a "b"', to: '2024-01-01', ids: 'x,y' }, '');
  t.equal(url.origin + url.pathname, 'https://api.example.org/v1/works/10.1%2Fa%20b');
  t.strictSame(Object.fromEntries(url.searchParams), { q: 'a \\"b\\"', filter: 'to:2024-01-01,kind:all', ids: '["x","y"]' });
  t.throws(() => addressOf(BASE, template, { query: 'a' }, ''), AddressFault);
});

t.test('the contact is told where the source wants it, and only where there is one', async (t) => {
  const adapter = { ...BASE, identify: { mailto: '{contact}', tool: 'svc' } };
  const told = (contact: string) => Object.fromEntries(addressOf(adapter, { path: '/x', query: {} }, {}, contact).searchParams);
  t.strictSame(told('ann@example.org'), { mailto: 'ann@example.org', tool: 'svc' });
  t.strictSame(told(''), { tool: 'svc' });
});

t.test('what callers give stays where it stands, in each operation of each source', async () => {
  const operations = packagedAdapters.flatMap((adapter) =>
    Object.values(adapter.operations).flatMap(({ parameters, request, first }) =>
      [request, first?.request].flatMap((template) => (template === undefined ? [] : [{ adapter, parameters, template }])),
    ),
  );
  const odd = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('..', '.', '%2e%2e', '../../x', '//evil.org', '?a=b', '#x', "' or 1=1", '"', '\\', '@evil.org'),
  );
  const property = fc.property(fc.constantFrom(...operations), odd, ({ adapter, parameters, template }, text) => {
    const made = (value: string) =>
      addressOf(
        adapter,
        template,
        { ...Object.fromEntries(Object.keys(parameters).map((name) => [name, value])), limit: 1, ids: value },
        '',
      );
    const plain = made('a1');
    let url: URL;
    try {
      url = made(text);
    } catch (error) {
      if (error instanceof AddressFault) return;
      throw error;
    }
    if (url.origin !== plain.origin) throw new Error(`another host: ${url.href}`);
    if (url.pathname.split('/').length !== plain.pathname.split('/').length) throw new Error(`another path: ${url.href}`);
    if (url.hash !== '') throw new Error(`a fragment: ${url.href}`);
    const names = new Set(plain.searchParams.keys());
    for (const name of url.searchParams.keys()) if (!names.has(name)) throw new Error(`another parameter: ${url.href}`);
  });
  fc.assert(property, { numRuns: iterations(2_000, 50_000), endOnFailure: true });
});

t.test('what stands in a language of a source cannot end its string', async (t) => {
  const asked = (id: string, operation: string, args: Record<string, string>, name: string) => {
    const adapter = packagedAdapters.find((one) => one.id === id);
    const found = adapter?.operations[operation];
    if (adapter === undefined || found === undefined) throw new Error(`there is no ${id}.${operation}`);
    return addressOf(adapter, found.first?.request ?? found.request, { limit: 5, offset: 0, ...args }, '').searchParams.get(name);
  };
  t.match(asked('simbad', 'object', { name: "x' or '1'='1" }, 'query'), /where id = 'x'' or ''1''=''1'$/);
  t.match(asked('exoplanets', 'planets', { name: "K2%'--" }, 'query'), /like '%k2 ''--%'$/);
  const json = asked('pdb', 'search', { query: 'a"},"x":{"' }, 'json') ?? '';
  t.match(JSON.parse(json), {
    query: { parameters: { value: 'a"},"x":{"' } },
    request_options: { paginate: { start: 0, rows: 5 } },
  });
  t.equal(
    asked('arxiv', 'search', { query: 'dark (matter) OR "x"' }, 'search_query'),
    'all:dark AND all:matter AND all:OR AND all:x',
  );
  t.equal(asked('openfda', 'labels', { query: 'a" OR "b' }, 'search'), '"a  OR  b"');
});

t.test('what a source says of its limits is read in its forms', async (t) => {
  const now = Date.parse('2026-11-28T12:00:00Z');
  const read = (headers: Record<string, string>, status = 200) => readLimits({ status, header: (name) => headers[name] }, now);
  t.strictSame(read({}), { blockedMs: undefined, intervalMs: undefined });
  t.equal(read({ 'retry-after': '7' }, 429).blockedMs, 7_000);
  t.equal(read({ 'retry-after': 'Sat, 28 Nov 2026 12:01:00 GMT' }, 503).blockedMs, 60_000);
  t.equal(read({ 'retry-after': '7' }).blockedMs, undefined, 'an answer that came is none to wait for');
  t.equal(read({ 'retry-after': 'soon' }, 429).blockedMs, undefined);
  t.equal(read({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '12' }).blockedMs, 12_000);
  t.equal(read({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(now / 1000 + 30) }).blockedMs, 30_000);
  t.equal(read({ 'x-ratelimit-remaining': '0' }).blockedMs, 60_000);
  t.equal(read({ 'ratelimit-remaining': '3', 'ratelimit-reset': '12' }).blockedMs, undefined);
  t.equal(read({ 'x-rate-limit-limit': '50', 'x-rate-limit-interval': '1s' }).intervalMs, 20);
  t.equal(read({ 'x-ratelimit-limit': '55000', 'x-ratelimit-period': '3600' }).intervalMs, 3_600_000 / 55_000);
  t.equal(read({ 'x-rate-limit-limit': '0', 'x-rate-limit-interval': '1s' }).intervalMs, undefined);
});

t.test('a request goes on until the last of those who wait for it has left', async (t) => {
  const shared = new SharedAnswers<{ sizeBytes: number }>(1_000, Date.now);
  const held = Promise.withResolvers<{ sizeBytes: number }>();
  const signals: AbortSignal[] = [];
  const ask = (own: AbortSignal) => {
    signals.push(own);
    own.addEventListener('abort', () => held.reject(own.reason as Error));
    return held.promise;
  };
  const [a, b] = [new AbortController(), new AbortController()];
  const get = (one: AbortController) => shared.get('key', 60_000, one.signal, ask);
  const [first, second] = [get(a), get(b)];
  a.abort(new Error('a left'));
  await t.rejects(first, { message: 'a left' });
  t.equal(signals[0]?.aborted, false);
  b.abort(new Error('b left'));
  await t.rejects(second, { message: 'b left' });
  t.equal(signals[0]?.aborted, true);
  const again = shared.get('key', 60_000, new AbortController().signal, async () => ({ sizeBytes: 1 }));
  t.match(await again, { isShared: false, answer: { sizeBytes: 1 } });
  t.equal(signals.length, 1);
});

t.test('answers are kept for their time and in their bounds, and failures are not', async (t) => {
  let now = 0;
  const shared = new SharedAnswers<{ sizeBytes: number }>(100, () => now);
  const { signal } = new AbortController();
  let nAsked = 0;
  const get = async (key: string, keepMs = 10, sizeBytes = 25) => {
    const asked = async () => {
      nAsked += 1;
      return { sizeBytes };
    };
    return (await shared.get(key, keepMs, signal, asked)).isShared;
  };
  t.strictSame([await get('a'), await get('a')], [false, true]);
  now = 11;
  t.equal(await get('a'), false, 'its time is over');
  for (const key of ['b', 'c', 'd']) await get(key);
  t.equal(await get('a'), true);
  await get('e');
  t.strictSame([await get('a'), await get('b')], [true, false], 'the least recently used one went');
  t.strictSame([await get('large', 10, 26), await get('large', 10, 26)], [false, false]);
  t.strictSame([await get('fleeting', 0), await get('fleeting', 0)], [false, false]);
  const before = nAsked;
  const failing = () => shared.get('f', 10, signal, () => Promise.reject(new Error('broken')));
  await t.rejects(failing(), { message: 'broken' });
  await wait(1);
  t.equal(await get('f'), false);
  t.equal(nAsked, before + 1);
});

/** Sources, queries and tools on both databases, against servers that answer by a script. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Test } from 'tap';
import { DomainError } from '../../platform/errors/domain-error.ts';
import { systemScope } from '../../platform/storage/index.ts';
import { type NewDatabase, newUrl, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import type { ScienceTables } from './tables.ts';
import {
  adapterOf,
  admin,
  ann,
  callerOf,
  openScience,
  rowsOf,
  scriptedSource,
  sendJson,
  words,
} from './test-support/science-bed.ts';

const KEY = { in: 'header', name: 'X-Key', prefix: 'Key ', required: true, url: 'https://example.org/keys' } as const;
const bob = callerOf('usr_bob', 'viewer');
const elsewhere = callerOf('usr_eve', 'admin', { tenant: 'blue' });

function testScienceContract(t: Test, newDatabase: NewDatabase): void {
  t.test('sources are listed by category, disabled until an administrator enables what somebody asked for', async (t) => {
    const source = await scriptedSource(t, (_, response) => sendJson(response, { total: 0, rows: [] }));
    const bed = await openScience(t, { databaseUrl: await newUrl(t, newDatabase) });
    const listed = (await bed.ask('GET', '/api/v1/science/sources', ann)).body.data;
    t.ok(listed.length >= 24, `${listed.length} sources`);
    t.ok(listed.every((one: { enabled: boolean }) => !one.enabled));
    const categories = (await bed.ask('GET', '/api/v1/science/sources/categories', ann)).body.data;
    t.ok(categories.filter((one: { sources: number }) => one.sources > 0).length >= 8);
    const biology = (await bed.ask('GET', '/api/v1/biology/sources', ann)).body.data;
    t.ok(biology.every(({ category }: { category: string }) => category === 'biology'));
    t.match(
      biology.find(({ id }: { id: string }) => id === 'uniprot'),
      { name: 'UniProt', needs_key: false, key_present: false, operations: [{ tool: 'science.uniprot.search', is_query: true }] },
    );

    const request = { source_id: 'arxiv', reason: 'for my thesis' };
    const asked = await bed.ask('POST', '/api/v1/science/sources/request', ann, request);
    t.match(asked, { status: 202, body: { state: 'waiting' } });
    const again = await bed.ask('POST', '/api/v1/science/sources/request', ann, { ...request, reason: 'please' });
    t.equal(again.body.request_id, asked.body.request_id, 'one that waits is not made twice');
    await bed.ask('POST', '/api/v1/science/sources/request', bob, { ...request, source_id: 'gbif' });
    t.match((await bed.ask('GET', '/api/v1/science/sources/requests', bob)).body.data, [{ source_id: 'gbif', state: 'waiting' }]);
    const keyOfBob = { ...bob, kind: 'key', keyId: 'key_1' } as const;
    t.match((await bed.ask('GET', '/api/v1/science/sources/requests', keyOfBob)).body.data, [{ owner: 'user:usr_bob' }]);
    t.equal((await bed.ask('GET', '/api/v1/science/sources/requests', admin)).body.data.length, 2);
    t.strictSame((await bed.ask('GET', '/api/v1/science/sources/requests', elsewhere)).body.data, []);
    t.match(await bed.change('arxiv', { enabled: true }, ann), { status: 403, body: { error: 'forbidden' } });
    t.match(await bed.change('arxiv'), { status: 200, body: { id: 'arxiv', enabled: true } });
    t.match((await bed.ask('GET', '/api/v1/science/sources/requests', ann)).body.data, [
      { source_id: 'arxiv', state: 'enabled' },
    ]);
    const waiting = (await bed.ask('GET', '/api/v1/science/sources/requests', bob)).body.data[0].id;
    t.match(await bed.ask('DELETE', `/api/v1/science/sources/requests/${waiting}`, elsewhere), {
      status: 404,
      body: { error: 'request_not_found' },
    });
    t.equal((await bed.ask('DELETE', `/api/v1/science/sources/requests/${waiting}`, admin)).status, 204);
    t.match((await bed.ask('GET', '/api/v1/science/sources/requests', bob)).body.data, [{ state: 'declined' }]);
    t.match((await bed.ask('GET', '/api/v1/literature/sources', elsewhere)).body.data, [{ enabled: false }]);
    t.match(await bed.change('nothing'), { status: 404, body: { error: 'source_not_found' } });
    t.match(
      bed.acts.map(({ action }) => action),
      ['science.request', 'science.request', 'science.request', 'science.source', 'science.decline'],
    );
    t.strictSame(source.asked, []);
  });

  t.test('a query asks several sources at once, and one that fails costs its own records alone', async (t) => {
    const one = await scriptedSource(t, (_, response) =>
      sendJson(response, {
        total: 2,
        rows: [
          { id: 1, title: 'One', doi: '10.1000/A', date: '2024-05' },
          { id: 2, title: 'Old', date: '2001' },
        ],
      }),
    );
    const two = await scriptedSource(t, (_, response) =>
      sendJson(response, {
        total: 2,
        rows: [
          { id: 'x', title: 'The same', doi: '10.1000/a' },
          { id: 'y', title: 'Two' },
        ],
      }),
    );
    const broken = await scriptedSource(t, (_, response) => response.destroy());
    const adapters = [adapterOf('one', one.url), adapterOf('two', two.url), adapterOf('dead', broken.url)];
    const bed = await openScience(t, { databaseUrl: await newUrl(t, newDatabase), adapters });
    const answer = await bed.query({ from: '2023-01-01', to: '2024-12-31' });
    t.equal(answer.status, 200);
    t.match(answer.body.records, [
      { id: '1', source: 'one', title: 'One', doi: '10.1000/a', date: '2024-05', license: 'CC0-1.0', url: null, creators: [] },
      { id: 'y', source: 'two', title: 'Two', date: null },
    ]);
    t.equal(answer.body.records.length, 2, 'what lies outside the dates, and a work twice, are left out');
    t.match(answer.body.failures, [{ source: 'dead', error: 'source_failed' }]);
    t.match(answer.body.raw, { one: { form: 'json', pages: [{ cut_at: null }] }, two: {} });
    t.match(JSON.parse(answer.body.raw.two.pages[0].body), { rows: [{ id: 'x' }, { id: 'y' }] });
    t.ok(answer.body.took_ms > 0);
    t.match(bed.acts.at(-1), { action: 'science.query', detail: { sources: ['one', 'two'], records: 2, failed: ['dead'] } });
    t.notMatch(JSON.stringify(bed.acts), /words/, 'what was asked for is not in the audit log');
    t.match((await bed.query({ sources: ['two'] })).body.records, [{ source: 'two' }, { source: 'two' }]);
    t.match(await bed.query({ sources: ['three'] }), { status: 404, body: { error: 'source_not_found' } });
    t.match(await bed.query({ category: 'earth' }), { status: 409, body: { error: 'no_source_enabled' } });
    t.match(await bed.query({}, elsewhere), { status: 409, body: { error: 'no_source_enabled' } });
    t.match((await bed.query({ sources: ['gbif'] })).body.failures, [{ source: 'gbif', error: 'source_disabled' }]);
    t.match(await bed.query({ query: ' ' }), { status: 400 });
  });

  t.test('a key is sealed: it goes to its source, and nowhere else', async (t) => {
    const secret = 'planted-secret-4711';
    const source = await scriptedSource(t, (_, response) => sendJson(response, { total: 1, rows: rowsOf(0, 1) }));
    const databaseUrl = await newUrl(t, newDatabase);
    const adapters = [adapterOf('keyed', source.url, { key: KEY })];
    const bed = await openScience(t, { databaseUrl, adapters });
    t.match(await bed.change('keyed'), { status: 409, body: { error: 'source_needs_key' } });
    const enabled = await bed.change('keyed', { enabled: true, key: secret });
    t.match(enabled, { status: 200, body: { key_present: true, needs_key: true, key_url: KEY.url } });
    const found = await bed.query({ sources: ['keyed'] });
    t.match(found.body.records, [{ id: '0' }]);
    t.equal(source.asked[0]?.headers['x-key'], `Key ${secret}`);
    const rows = await bed.storage
      .access<ScienceTables>()
      .read(systemScope(), (db) => db.selectFrom('science_sources').selectAll().execute());
    const shown = [
      enabled.text,
      found.text,
      (await bed.ask('GET', '/api/v1/science/sources', admin)).text,
      JSON.stringify(bed.acts),
    ];
    t.notMatch([...shown, JSON.stringify(rows), ...bed.log].join('\n'), secret);
    t.match(await bed.change('arxiv', { key: secret }), { status: 400, body: { error: 'invalid_request' } });
    await bed.stop();

    const other = await openScience(t, { databaseUrl, adapters, nodeId: 'other' });
    t.match((await other.query({ sources: ['keyed'] })).body.failures, [{ error: 'source_key_elsewhere' }]);
    t.match(await other.change('keyed', { key: null }), { status: 409, body: { error: 'source_needs_key' } });
    t.match(await other.change('keyed', { enabled: false, key: null }), { body: { enabled: false, key_present: false } });
    t.equal(source.asked.length, 1);
  });

  t.test('a source is told a whole range of dates, also where one end was named', async (t) => {
    const source = await scriptedSource(t, (_, response) => sendJson(response, { total: 0, rows: [] }));
    const date = { type: 'date', description: 'A date.' } as const;
    const operation = {
      parameters: { query: { type: 'string', description: 'Words.', required: true }, from: date, to: date },
      request: { path: '/rows', query: { q: '{query}', range: '{from|slashes}..{to|month}' } },
    } as const;
    const bed = await openScience(t, {
      databaseUrl: await newUrl(t, newDatabase),
      adapters: [adapterOf('one', source.url, { operation })],
    });
    for (const range of [{}, { from: '2024-02-03' }, { to: '2024-02-03' }, { from: '2024-02-03', to: '2025-01-01' }])
      await bed.query(range);
    const told = source.asked.map(({ url }) => url.searchParams.get('range'));
    t.strictSame(told, [null, '2024/02/03..2100-12', '1600/01/01..2024-02', '2024/02/03..2025-01']);
    t.match(await bed.query({ from: 'yesterday' }), { status: 400 });
  });

  t.test('pages are read by offset, page and cursor until there are enough', async (t) => {
    const script = (url: URL) => {
      const from = Number(url.searchParams.get('offset') ?? url.searchParams.get('cursor')?.slice(1) ?? 0);
      const page = url.searchParams.get('page');
      const start = page === null ? from : (Number(page) - 1) * 10;
      return { total: 25, rows: rowsOf(start, Math.min(10, 25 - start)), next: `c${start + 10}` };
    };
    const source = await scriptedSource(t, (url, response) => sendJson(response, script(url)));
    const request = (by: string, name: string) => ({ path: '/rows', query: { q: '{query}', [by]: `{${name}}` } });
    const adapters = [
      adapterOf('offset', source.url),
      adapterOf('page', source.url, { operation: { paging: { by: 'page' }, request: request('page', 'page') } }),
      adapterOf('cursor', source.url, {
        operation: { paging: { by: 'cursor', first: 'c0', next: 'next' }, request: request('cursor', 'cursor') },
      }),
    ];
    const bed = await openScience(t, { databaseUrl: await newUrl(t, newDatabase), adapters });
    for (const { id } of adapters) {
      const before = source.asked.length;
      const { records, raw } = (await bed.query({ sources: [id], limit: 23 })).body;
      t.strictSame(
        records.map((record: { id: string }) => Number(record.id)),
        rowsOf(0, 23).map((row) => row.id),
        id,
      );
      t.equal(raw[id].pages.length, 3);
      t.equal(source.asked.length - before, 3);
      t.equal((await bed.query({ sources: [id], limit: 200 })).body.records.length, 25);
    }
  });

  t.test('an empty page against its own total is asked for again, and is a failure in the end', async (t) => {
    const flaky = await scriptedSource(t, (_, response, n) =>
      sendJson(response, { total: 1, rows: n === 0 ? [] : rowsOf(0, 1) }),
    );
    const hollow = await scriptedSource(t, (_, response) => sendJson(response, { total: 7, rows: [] }));
    const adapters = [adapterOf('flaky', flaky.url), adapterOf('hollow', hollow.url)];
    const bed = await openScience(t, { databaseUrl: await newUrl(t, newDatabase), adapters });
    const { records, failures } = (await bed.query({})).body;
    t.match(records, [{ source: 'flaky', id: '0' }]);
    t.match(failures, [{ source: 'hollow', error: 'source_failed', detail: /empty page/ }]);
    t.strictSame([flaky.asked.length, hollow.asked.length], [2, 3]);
  });

  t.test('long answers are read beside the requests of others', async (t) => {
    const long = Array.from({ length: 10 }, (_, i) => ({
      id: i,
      title: `Row ${i}`,
      doi: `10.1000/${i}`,
      more: 'x'.repeat(10_000),
    }));
    const source = await scriptedSource(t, (_, response) => sendJson(response, { total: 10, rows: long }));
    const xml = { form: 'xml', records: 'feed/entry', total: 'feed/total', paging: { by: 'page' } } as const;
    const slow = await scriptedSource(t, (_, response) =>
      response.writeHead(200).end(`<feed>${'<a>x</a>'.repeat(220_000)}</feed>`),
    );
    const adapters = [adapterOf('long', source.url), adapterOf('slow', slow.url, { operation: xml })];
    const bed = await openScience(t, { databaseUrl: await newUrl(t, newDatabase), adapters });
    const { records, failures, raw } = (await bed.query({})).body;
    t.equal(records.length, 10);
    t.match(failures, [{ source: 'slow', error: 'source_failed', detail: /elements/ }]);
    t.ok(raw.long.pages[0].size_bytes > 100_000);
  });

  t.test('identical questions share a request while it runs and an answer afterwards', async (t) => {
    const held = Promise.withResolvers<void>();
    const source = await scriptedSource(
      t,
      (_, response) => void held.promise.then(() => sendJson(response, { total: 1, rows: rowsOf(0, 1) })),
    );
    const bed = await openScience(t, {
      databaseUrl: await newUrl(t, newDatabase),
      adapters: [adapterOf('slow', source.url, { cache_seconds: 60 })],
    });
    const same = words();
    const both = [bed.query({ query: same }), bed.query({ query: same }, bob)];
    await until(() => source.asked.length > 0);
    await wait(50);
    held.resolve();
    for (const answer of await Promise.all(both)) t.match(answer.body.records, [{ id: '0' }]);
    t.match((await bed.query({ query: same })).body.records, [{ id: '0' }]);
    t.equal(source.asked.length, 1);
    await bed.query({ query: same, limit: 3 });
    t.equal(source.asked.length, 2, 'another question is another one');
  });

  t.test('Retry-After is waited for where it is short, and is a refusal for all nodes where it is long', async (t) => {
    const short = await scriptedSource(t, (_, response, n) =>
      n === 0 ? sendJson(response, {}, 429, { 'retry-after': '1' }) : sendJson(response, { total: 1, rows: rowsOf(0, 1) }),
    );
    const long = await scriptedSource(t, (_, response) => sendJson(response, {}, 503, { 'retry-after': '3600' }));
    const spent = await scriptedSource(t, (_, response) =>
      sendJson(response, { total: 1, rows: rowsOf(0, 1) }, 200, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '600' }),
    );
    const databaseUrl = await newUrl(t, newDatabase);
    const adapters = [adapterOf('short', short.url), adapterOf('long', long.url), adapterOf('spent', spent.url)];
    const bed = await openScience(t, { databaseUrl, adapters });
    t.match((await bed.query({ sources: ['short'] })).body.records, [{ id: '0' }]);
    const [first, second] = short.asked.map(({ at }) => at) as [number, number];
    t.ok(second - first >= 995, `${second - first} ms`);
    t.match((await bed.query({ sources: ['long'] })).body.failures, [{ error: 'source_rate_limited' }]);
    t.match((await bed.query({ sources: ['spent'] })).body.records, [{ id: '0' }]);
    await bed.stop();
    const other = await openScience(t, { databaseUrl, adapters, nodeId: 'other' });
    const { failures } = (await other.query({ sources: ['long', 'spent'] })).body;
    t.match(failures, [{ error: 'source_rate_limited' }, { error: 'source_rate_limited' }]);
    t.strictSame([long.asked.length, spent.asked.length], [1, 1]);
  });

  t.test('what a source sends in hostile ways is its own failure', async (t) => {
    const xml = { form: 'xml', records: 'feed/entry', total: 'feed/total' } as const;
    const inside = await scriptedSource(t, (_, response) => sendJson(response, { total: 1, rows: rowsOf(0, 1) }));
    const answers: Record<string, (response: Parameters<typeof sendJson>[0]) => void> = {
      huge: (response) => response.writeHead(200).end(`{"rows":"${'x'.repeat(3 * 1024 * 1024)}"}`),
      deep: (response) => response.writeHead(200).end('['.repeat(500_000)),
      nested: (response) => response.writeHead(200).end(`${'{"rows":'.repeat(300)}1${'}'.repeat(300)}`),
      html: (response) => response.writeHead(200).end('<html>Log in</html>'),
      doctype: (response) => response.writeHead(200).end('<!DOCTYPE feed [<!ENTITY a "b">]><feed><total>1</total></feed>'),
      cut: (response) => response.writeHead(200).end('<feed><total>1</total><entry>'),
      redirect: (response) => response.writeHead(302, { location: `${inside.url}/rows` }).end(),
      refused: (response) => response.writeHead(403).end('no'),
      hanging: () => {},
    };
    const source = await scriptedSource(t, (url, response) => answers[url.pathname.slice(1)]?.(response));
    const adapters = Object.keys(answers).map((id) => {
      const operation = ['doctype', 'cut'].includes(id) ? xml : {};
      return adapterOf(id, source.url, { operation: { ...operation, request: { path: `/${id}`, query: { q: '{query}' } } } });
    });
    const settings = { 'science.timeout_seconds': 2 };
    const bed = await openScience(t, { databaseUrl: await newUrl(t, newDatabase), adapters, settings });
    const { records, failures } = (await bed.query({})).body;
    t.strictSame(records, []);
    const codes = new Map(failures.map(({ source: id, error }: { source: string; error: string }) => [id, error]));
    t.equal(codes.get('hanging'), 'source_timeout');
    codes.delete('hanging');
    t.strictSame(
      [...codes.keys()].sort(),
      Object.keys(answers)
        .filter((id) => id !== 'hanging')
        .sort(),
    );
    t.ok([...codes.values()].every((code) => code === 'source_failed'));
    t.strictSame(inside.asked, [], 'a source does not lead on to another address');
  });

  t.test('a license that does not hold keeps sources from being enabled, and not those that are', async (t) => {
    const source = await scriptedSource(t, (_, response) => sendJson(response, { total: 1, rows: rowsOf(0, 1) }));
    const databaseUrl = await newUrl(t, newDatabase);
    const adapters = [adapterOf('one', source.url)];
    const bed = await openScience(t, { databaseUrl, adapters });
    await bed.stop();
    const requireFeature = () => {
      throw new DomainError('license_expired', 'It is over.');
    };
    const other = await openScience(t, { databaseUrl, adapters, license: { requireFeature } });
    t.match(await other.change('arxiv'), { status: 403, body: { error: 'license_expired' } });
    t.match((await other.query({})).body.records, [{ source: 'one' }]);
    t.match(await other.change('one', { enabled: false }), { status: 200 });
  });

  t.test('what tenants and accounts have of sources goes with them', async (t) => {
    const bed = await openScience(t, { databaseUrl: await newUrl(t, newDatabase) });
    for (const as of [ann, bob, elsewhere])
      await bed.ask('POST', '/api/v1/science/sources/request', as, { source_id: 'gbif', reason: 'birds' });
    await bed.change('arxiv');
    const { belongings } = bed.module((await import('./index.ts')).science);
    const { scopeOf } = await import('../../platform/http/principal.ts');
    await belongings?.eraseAccount?.(systemScope(), 'usr_ann');
    const left = (await bed.ask('GET', '/api/v1/science/sources/requests', admin)).body.data;
    t.match(left, [{ owner: 'user:usr_bob' }]);
    await belongings?.eraseTenant(scopeOf(ann));
    t.strictSame((await bed.ask('GET', '/api/v1/science/sources/requests', admin)).body.data, []);
    t.match((await bed.ask('GET', '/api/v1/science/sources', ann)).body.data, [{ enabled: false }]);
    t.equal((await bed.ask('GET', '/api/v1/science/sources/requests', elsewhere)).body.data.length, 1);
  });
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await wait(5);
}

// Some sources are waited for.
onEachDatabase(testScienceContract, { timeoutMs: 180_000 });

/** Operations of scientific sources as tools, on both databases: who has them, and what they refuse. */
import type { Test } from 'tap';
import { standIn } from '../../platform/module/test-support/open-modules.ts';
import { type NewDatabase, newUrl, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { conversations } from '../conversations/index.ts';
import { data } from '../data/index.ts';
import { files } from '../files/index.ts';
import { metering } from '../metering/index.ts';
import { adapterOf, ann, callerOf, openScience, rowsOf, scriptedSource, sendJson } from '../science/test-support/science-bed.ts';
import { edge } from './index.ts';

const elsewhere = callerOf('usr_eve', 'admin', { tenant: 'blue' });

function testScienceTools(t: Test, newDatabase: NewDatabase): void {
  t.test('operations are tools of tenants that enabled their source, and run in their bounds', async (t) => {
    const source = await scriptedSource(t, (_, response) => sendJson(response, { total: 1, rows: rowsOf(0, 1) }));
    const operation = {
      parameters: { query: { type: 'string', description: 'Words.', required: true, pattern: '^[a-z.]+$' } },
      request: { path: '/rows/{query}', query: { limit: '{limit}' } },
    } as const;
    const bed = await openScience(t, {
      databaseUrl: await newUrl(t, newDatabase),
      adapters: [adapterOf('one', source.url, { operation })],
      modules: [
        edge,
        standIn(files, {}),
        standIn(conversations, {}),
        standIn(data, {}),
        standIn(metering, { begin: async () => ({ end: async () => {} }) as never }),
      ],
      uses: { of: () => (name) => name !== 'science.gbif.species' && name !== 'science.gbif.occurrences' },
    });
    const tools = async (as: typeof ann) =>
      (await bed.ask('GET', '/api/v1/agent/tools', as)).body.data.map(({ name }: { name: string }) => name);
    t.strictSame(
      (await tools(ann)).filter((name: string) => name.startsWith('science.')),
      ['science.one.search', 'science.query'],
    );
    t.notOk((await tools(elsewhere)).some((name: string) => name.startsWith('science.')));
    t.match(await bed.execute('science.one.search', { query: 'a', limit: 1 }), {
      status: 200,
      body: { ok: true, result: { records: [{ id: '0', source: 'one' }], total: 1 } },
    });
    t.match((await bed.execute('science.query', { query: 'a' })).body.result, { records: [{ id: '0' }], failures: [] });
    t.match(await bed.execute('science.one.search', { query: 'A b' }), { status: 400, body: { error: 'invalid_request' } });
    t.match(await bed.execute('science.one.search', { query: 'a', limit: 201 }), { status: 400 });
    t.match(await bed.execute('science.one.search', { query: '..' }), {
      body: { ok: false, error: { error: 'invalid_request' } },
    });
    t.match(await bed.execute('science.arxiv.search', { query: 'a' }), { status: 404, body: { error: 'tool_not_found' } });
    t.match(await bed.execute('web.fetch', { url: 'https://example.org' }), { status: 404, body: { error: 'tool_not_found' } });
    t.match(await bed.change('gbif'), { status: 404, body: { error: 'source_not_found' } }, 'not left to the caller');
    const listed = (await bed.ask('GET', '/api/v1/science/tools', ann)).body.data;
    t.match(
      listed.find(({ name }: { name: string }) => name === 'science.one.search'),
      { source: 'one', enabled: true, input_schema: { required: ['query'] } },
    );
    await bed.ask('PUT', '/api/v1/security/enforcement', callerOf('usr_root', 'superadmin'), { mode: 'enforce', tenant: 'red' });
    t.equal((await bed.query({})).status, 200, 'viewers may ask');
    t.ok(source.asked.every(({ url }) => url.pathname.startsWith('/rows/') && !url.pathname.includes('..')));
    t.match(source.asked[0]?.headers['user-agent'], /^svc\/1\.2\.3/);
  });
}

onEachDatabase(testScienceTools);

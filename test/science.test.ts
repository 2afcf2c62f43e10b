/** Scientific sources of a real node: at the command line, in a chat's tools, and into a knowledge base. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { runCli } from '../ts/cli/run-cli.ts';
import { adapterOf, sendJson as answer, scriptedSource } from '../ts/server/domains/science/test-support/science-bed.ts';
import { newFolder } from '../ts/server/platform/files/test-support/new-folder.ts';
import { sendJson } from './http.ts';
import { startServer } from './server.ts';

// A server and a few commands are started.
t.setTimeout(180_000);

t.test(
  'a source is asked for, enabled, searched, offered to models, and its records are added to a knowledge base',
  async (t) => {
    const row = { id: 1, title: 'Lighthouses of the Baltic Sea', date: '2024-05-01', doi: '10.1000/baltic' };
    const source = await scriptedSource(t, (_, response) => answer(response, { total: 1, rows: [row] }));
    const folder = newFolder(t);
    const dataDir = join(folder, 'data');
    mkdirSync(join(dataDir, 'science'), { recursive: true });
    const key = { in: 'header', name: 'X-Key', required: true, url: 'https://example.org/keys' } as const;
    writeFileSync(join(dataDir, 'science', 'baltic.json'), JSON.stringify(adapterOf('baltic', source.url, { key })));
    const { url } = await startServer(t, {
      models: {},
      env: {
        SVC_DATA_DIR: dataDir,
        SVC_SCIENCE_ALLOWED_HOSTS: 'http://127.0.0.1',
        SVC_SCIENCE_CONTACT: 'ann@example.org',
        SVC_MODELS_SHIPPED: 'true',
        SVC_DATA_EMBEDDING_URL: '',
      },
    });
    const root = { username: 'root', password: 'a lighthouse keeper' };
    const { token } = await sendJson<{ token: string }>(url, '/api/v1/auth/register', root);
    const svc = (args: string[], input?: string) =>
      runCli([...args, '--url', url], { env: { SVC_API_KEY: token }, ...(input !== undefined && { input }) });

    t.match(
      (await svc(['science', 'sources'])).stdout,
      /arxiv +literature +disabled +- +search +arXiv[\s\S]*baltic +literature +disabled +needed/,
    );
    t.match(await svc(['science', 'query', 'light']), { code: 6, stderr: /no source/ });
    t.match(await svc(['science', 'request', 'baltic', 'for a map']), { code: 0, stdout: /^srq_\S+ is waiting/ });
    t.match((await svc(['science', 'requests'])).stdout, /baltic +waiting +user:usr_\S+ +for a map/);
    t.match(await svc(['science', 'enable', 'baltic']), { code: 6, stderr: /needs a key/ });
    t.match(await svc(['science', 'enable', 'baltic', '--key-stdin'], 'secret-4711\n'), {
      code: 0,
      stdout: /is enabled; its terms: https/,
    });
    t.match((await svc(['science', 'requests'])).stdout, /baltic +enabled/);

    const found = await svc(['science', 'query', 'lighthouses', '--from', '2024-01-01', '--add', '--namespace', 'papers']);
    t.match(found, { code: 0, stdout: /baltic +2024-05-01 +Lighthouses of the Baltic Sea[\s\S]*1 records were added/ });
    t.match(source.asked[0]?.headers, { 'x-key': 'secret-4711', 'user-agent': /^svc\/.* \(ann@example\.org\)$/ });
    t.match((await svc(['kb', 'search', 'Baltic lighthouses', '--namespace', 'papers'])).stdout, /DOI: 10\.1000\/baltic/);
    t.match((await svc(['tool', 'list'])).stdout, /science\.baltic\.search +read +allow +ready[\s\S]*science\.query/);
    t.match(
      (await svc(['tool', 'run', 'science.baltic.search', '{"query": "lighthouses"}'])).stdout,
      /Lighthouses of the Baltic Sea/,
    );
    t.match(await svc(['science', 'query', 'x', '--source', 'nothing']), { stderr: /no source "nothing"/ });
    t.match((await svc(['audit', '--json'])).stdout, /"science\.query"/);
    t.match(await svc(['science', 'disable', 'baltic']), { code: 0, stdout: /is disabled/ });
    t.match((await svc(['science', 'sources', '--json'])).json(), [
      { id: 'ads' },
      { id: 'arxiv' },
      { id: 'baltic', key_present: false },
    ]);
  },
);

/** Files from `svc kb add` to a cited answer, on the real server with the models that ship. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { runCli } from '../ts/cli/run-cli.ts';
import { writeDocx } from '../ts/server/extraction/test-support/docx-writer.ts';
import { wrap, writePdf } from '../ts/server/extraction/test-support/pdf-writer.ts';
import { writeXlsx } from '../ts/server/extraction/test-support/xlsx-writer.ts';
import { runServer, startServer } from './server.ts';

t.setTimeout(300_000);

const env = { SVC_MODELS_SHIPPED: 'true', SVC_DATA_EMBEDDING_URL: '' };
const models = {};

const pages = [
  'The town of Karvo lies at the northern sea. It was founded by fishermen in the year 1204.',
  'The keeper of the lighthouse of Karvo is Mira Doll. She lights the lamp every evening.',
  'The market of Karvo is held on Tuesdays. Farmers of the valley sell apples and cheese there.',
];

interface Cited {
  choices: { message: { content: string } }[];
  citations?: { n: number; source: string; page?: number; sheet?: string }[];
}

async function ask(url: string, content: string): Promise<Cited> {
  const body = { model: 'svc-chat-tiny', temperature: 0, messages: [{ role: 'user', content }], knowledge: ['default'] };
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body: JSON.stringify(body) });
  return (await response.json()) as Cited;
}

t.test(
  'a PDF and a workbook are added by the command line, an answer cites the page, and a search finds the sheet',
  async (t) => {
    const root = t.testdir({ server: {}, files: {} });
    const cwd = join(root, 'files');
    const server = await startServer(t, { models, env, folder: join(root, 'server') });
    const write = (name: string, bytes: Buffer) => writeFile(join(cwd, name), bytes);
    await write('town.pdf', writePdf([...pages.map((text) => wrap(text, 60, 60, 400).texts), []]));
    await write(
      'fees.xlsx',
      writeXlsx([
        {
          name: 'Members',
          rows: [
            ['Member', 'Since'],
            ['Olga Brandt', 1999],
          ],
        },
        { name: 'Notes', rows: [['Note'], ['The colour of the roof of the bakery is green.']] },
      ]),
    );
    const text = 'The school of Karvo has ninety pupils and a garden with cherry trees.';
    await write('school.docx', writeDocx({ blocks: [{ type: 'paragraph', text }] }));
    await write('scan.pdf', writePdf([[]], { hasPicture: true }));
    await write('locked.pdf', writePdf([[{ text: 'secret', x: 9, y: 9 }]], { isEncrypted: true }));
    const add = () => runCli(['kb', 'add', '.', '--json'], { env: { SVC_URL: server.url }, cwd });
    const added = await add();
    t.match(added, { code: 0 }, added.stderr);
    t.match(added.json(), {
      added: 3,
      unchanged: 0,
      warnings: [{ path: /town\.pdf$/, reason: /^1 of 4 pages have no text layer/ }],
      skipped: [
        { path: /locked\.pdf$/, reason: /^encrypted_pdf: .*password/ },
        { path: /scan\.pdf$/, reason: /^scanned_pdf: .*OCR/ },
      ],
    });
    t.match((await add()).json(), { added: 0, unchanged: 3 });
    const keeper = await ask(server.url, 'Who is the keeper of the lighthouse of Karvo?');
    t.match(keeper.choices[0]?.message.content, /Mira Doll/);
    t.match(keeper.citations, [{ source: 'town.pdf', page: 2 }]);
    const response = await fetch(`${server.url}/api/v1/vector/search`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ tenant: 'default', namespace: 'default', query: 'What is the colour of the roof of the bakery?' }),
    });
    t.match(((await response.json()) as { results: unknown[] }).results[0], { source: 'fees.xlsx', sheet: 'Notes' });
  },
);

t.test('the job of a large file goes on after kill -9', async (t) => {
  const folder = t.testdir();
  const line = (i: number) =>
    `Entry ${i}: the ship number ${i * 13} came to Karvo with salt, rope and tar for the yard of the harbour.`;
  const text = Array.from({ length: 45_000 }, (_, i) => line(i)).join('\n\n');
  t.ok(Buffer.byteLength(text) > 4 * 1024 * 1024);
  const source = 'ships.txt';
  await writeFile(join(folder, source), text);
  const first = await runServer({ folder, models, env });
  t.teardown(() => first.stop('SIGKILL'));
  const adding = runCli(['kb', 'add', source], { env: { SVC_URL: first.url }, cwd: folder });
  const job = await jobOf(first.url, ({ state, progress }) => state === 'running' && (progress?.done ?? 0) > 0);
  await first.stop('SIGKILL');
  await adding;
  const second = await startServer(t, { folder, models, env });
  const resumed = await jobOf(second.url, ({ progress }) => (progress?.done ?? 0) > (job.progress?.done ?? 0));
  t.equal(resumed.id, job.id);
  t.match(resumed, { kind: 'data.index', state: 'running' });
  const response = await fetch(`${second.url}/api/v1/system/jobs/${job.id}/cancel`, { method: 'POST' });
  t.ok(response.ok);
  await jobOf(second.url, ({ state }) => state === 'cancelled');
  const listed = await fetch(`${second.url}/api/v1/vector/namespaces/default/default/documents`);
  t.strictSame(((await listed.json()) as { data: unknown[] }).data, []);
});

interface Job {
  id: string;
  kind: string;
  state: string;
  progress: { done: number; total: number | null } | null;
}

/** The one job of the server, as soon as it is as wanted. */
async function jobOf(url: string, isWanted: (job: Job) => boolean): Promise<Job> {
  for (;;) {
    const listed = (await (await fetch(`${url}/api/v1/system/jobs`)).json()) as { jobs: Job[] };
    const jobs = listed.jobs.filter(({ kind }) => kind === 'data.index');
    const found = jobs.find(isWanted);
    if (found !== undefined) return found;
    if (jobs.some(({ state }) => state === 'failed' || state === 'done')) throw new Error(JSON.stringify(jobs));
    await wait(200);
  }
}

import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import Type from 'typebox';
import { RawBody } from '../../server/platform/http/body/body-schema.ts';
import { json, type Route, route } from '../../server/platform/http/route.ts';
import { openTestBed } from '../../server/platform/http/test-support/test-bed.ts';
import { findDocumentFiles } from '../knowledge/document-files.ts';
import { runCli } from '../run-cli.ts';

// Each run of the program starts a process: half a second on an idle core.
t.setTimeout(300_000);

const TEXT = 'The lighthouse of Karvo was built in 1893.';

interface Stored {
  id: string;
  source: string;
  sha256: string;
  chunks: number;
}

const unindexed = { count: 7, files: [{ namespace: 'default', document_id: 'd', source: 'scan.png', detail: 'No text layer.' }] };

/** As much of the server as the commands need: one base, and what was sent to it. */
function knowledgeRoutes(): { routes: Route[]; documents: Map<string, Stored>; sent: unknown[]; searched: unknown[] } {
  const documents = new Map<string, Stored>();
  const sent: unknown[] = [];
  const searched: unknown[] = [];
  const uploads: { source: string; sha256: string; bytes: Buffer }[] = [];
  const base = () => ({
    namespace: 'default',
    documents: documents.size,
    chunks: documents.size,
    embedding_model: 'words',
    bytes: 10,
  });
  const plain = (method: Route['method'], path: string, handle: Route['handle']): Route =>
    route({
      method,
      path,
      auth: 'open',
      maxBody: 1e6,
      tag: 'T',
      summary: 'S',
      bodyOptional: true,
      body: Type.Any(),
      responses: { 200: Type.Any() },
      handle,
    });
  const routes = [
    plain('GET', '/api/v1/auth/whoami', () => json(200, { tenant: 'red' })),
    plain('GET', '/v1/models', () => json(200, { data: [{ id: 'm', capabilities: ['chat'] }] })),
    plain('GET', '/api/v1/vector/namespaces/{tenant}', () => json(200, { data: documents.size > 0 ? [base()] : [] })),
    plain('GET', '/api/v1/vector/namespaces/{tenant}/{namespace}/documents', () => json(200, { data: [...documents.values()] })),
    plain('DELETE', '/api/v1/vector/documents/{tenant}/{namespace}/{id}', ({ params }) => {
      const { id: deleted } = params as { id: string };
      for (const [source, { id }] of documents) if (id === deleted) documents.delete(source);
      return json(200, {});
    }),
    plain('POST', '/api/v1/upload/init', ({ body }) => {
      const id = `u${uploads.length}`;
      uploads.push({ ...body, bytes: Buffer.alloc(body.size) });
      return json(200, { upload_id: id, chunk_size: 32, received: [] });
    }),
    route({
      method: 'POST',
      path: '/api/v1/upload/chunk',
      auth: 'open',
      maxBody: 1e6,
      tag: 'T',
      summary: 'S',
      body: RawBody,
      bodyKind: 'bytes',
      responses: { 200: Type.Any() },
      handle: async ({ headers, body }) => {
        const upload = uploads[Number(headers.get('x-upload-id')?.slice(1))];
        let at = 32 * Number(headers.get('x-chunk-index'));
        for await (const piece of body) {
          upload?.bytes.set(piece, at);
          at += piece.length;
        }
        return json(200, {});
      },
    }),
    plain('POST', '/api/v1/upload/finalize', ({ body }) => {
      const { source = '', sha256 = '', bytes = Buffer.of() } = uploads[Number(body.upload_id.slice(1))] ?? {};
      const isScan = bytes.subarray(0, 4).toString() === '%PDF';
      if (isScan) return json(422, { error: 'scanned_pdf', detail: 'The PDF has no text layer. There is no OCR.' });
      if (bytes.length < 20) return json(400, { error: 'text_too_short', detail: 'The text has too few characters.' });
      if (createHash('sha256').update(bytes).digest('hex') !== sha256) return json(422, { error: 'checksum_mismatch' });
      documents.set(source, { id: `d${documents.size}`, source, sha256, chunks: 1 });
      const note = documents.size === 1 ? { note: 'words embeds it for good.' } : {};
      return json(201, { id: 'd', state: 'indexed', ...note });
    }),
    plain('DELETE', '/api/v1/upload/{upload_id}', () => json(200, {})),
    plain('POST', '/api/v1/vector/search', ({ body }) => {
      searched.push(body);
      return json(200, {
        answerable: !body.query.includes('Jupiter'),
        results: [{ source: 'a.md', text: `${TEXT}\u001b[2J`, score: 0.9, page: 3 }],
      });
    }),
    plain('POST', '/v1/chat/completions', ({ body }) => {
      sent.push(body);
      const citations = [{ n: 1, source: 'a.md', page: 3 }];
      if (body.stream !== true) return json(200, { model: 'm', choices: [{ message: { content: 'In 1893 [1].' } }], citations });
      const more = body.messages[0].content.includes('scan') ? { unindexed } : {};
      const chunks = [
        { model: 'm', choices: [{ delta: { content: 'In 1893 ' } }] },
        { model: 'm', choices: [{ delta: { content: '[1].' } }] },
        { model: 'm', choices: [{ delta: {}, finish_reason: 'stop' }], citations, ...more },
      ];
      const frames = [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'].map((data) => `data: ${data}\n\n`);
      return { kind: 'bytes', status: 200, headers: { 'content-type': 'text/event-stream' }, body: Buffer.from(frames.join('')) };
    }),
  ];
  return { routes, documents, sent, searched };
}

async function open(t: Test) {
  const cwd = await mkdtemp(join(tmpdir(), 'svc-kb-'));
  t.teardown(() => rm(cwd, { recursive: true }));
  const server = knowledgeRoutes();
  const bed = await openTestBed(t, server.routes);
  return { ...server, cwd, run: (args: string[]) => runCli(['kb', ...args], { env: { SVC_URL: bed.url }, cwd }) };
}

t.test('a folder is added, and unchanged files are skipped the next time', async (t) => {
  const { run, cwd, documents } = await open(t);
  await mkdir(join(cwd, 'docs', '.hidden'), { recursive: true });
  await writeFile(join(cwd, 'docs', 'a.md'), TEXT);
  await writeFile(join(cwd, 'docs', 'b.txt'), `\ufeff${TEXT} Two.`);
  await writeFile(join(cwd, 'docs', 'short.txt'), 'x');
  await writeFile(join(cwd, 'docs', 'bytes.txt'), Buffer.from([0xff, 0xfe, 0x00, 0x41]));
  await writeFile(join(cwd, 'docs', 'photo.png'), 'x');
  await writeFile(join(cwd, 'docs', '.hidden', 'c.md'), TEXT);
  const first = await run(['add', 'docs/']);
  t.match(first, { code: 0, stdout: /^default: 2 added, 0 unchanged, 3 left out\nwords embeds it for good\.\n/ });
  t.strictSame([...documents.keys()].sort(), ['docs/a.md', 'docs/b.txt']);
  t.match((await run(['add', 'docs/', '--json'])).json(), { added: 0, unchanged: 2, note: undefined });
  await writeFile(join(cwd, 'docs', 'a.md'), `${TEXT} Changed.`);
  t.match((await run(['add', 'docs/', '--json'])).json(), { added: 1, unchanged: 1 });
  await writeFile(join(cwd, 'docs', 'scan.pdf'), `%PDF-1.7 ${TEXT}`);
  const scanned = await run(['add', 'docs/scan.pdf']);
  t.match(
    scanned,
    { code: 1, stdout: /0 added.*1 left out\n.*scan\.pdf: scanned_pdf: .*There is no OCR/ },
    'named itself, and refused',
  );
  t.match(await run(['add', 'nowhere']), { code: 2, stderr: /no file or folder/ });
  t.match(await run(['list']), { code: 0, stdout: /default +2 +2/ });
  t.match(await run(['rm', 'default', 'docs/a.md']), { code: 0, stdout: /docs\/a\.md is deleted/ });
  t.match(await run(['rm', 'default']), { code: 2, stderr: /--all/ });
  t.equal(documents.size, 1);
});

t.test('an answer is shown with its sources, and passages cannot redraw the terminal', async (t) => {
  const { run, sent } = await open(t);
  t.match(await run(['ask', 'When', 'was it built?']), { code: 0, stdout: 'In 1893 [1].\n\n[1] a.md, page 3\n' });
  t.match(sent, [{ model: 'm', knowledge: ['default'], messages: [{ role: 'user', content: 'When was it built?' }] }]);
  const asked = await run(['ask', 'What is on the scan?']);
  t.match(asked, {
    code: 0,
    stdout: /\[1\] a\.md, page 3\n\nstored without an index.*\n {2}scan\.png: No text layer\.\n {2}and 6 more/,
  });
  const { stdout } = await run(['search', 'lighthouse']);
  t.match(stdout, /^\[1\] a\.md, page 3 {2}\(0\.900\)\nThe lighthouse/);
  t.notOk(stdout.includes('\u001b'));
});

t.test('a search is bounded by mode, documents, tags and dates', async (t) => {
  const { run, searched } = await open(t);
  t.match(await run(['search', 'lighthouse']), { code: 0 });
  const narrowed = ['--mode', 'lexical', '--source', 'a.md', '--source', 'b.md', '--tag', 'sea', '--from', '2026-01-31'];
  t.match(await run(['search', 'lighthouse', '-n', 'coast', '--top-k', '3', ...narrowed, '--to', '2026-03-01T12:00:00Z']), {
    code: 0,
  });
  t.strictSame(searched, [
    { tenant: 'red', namespace: 'default', query: 'lighthouse', top_k: 5 },
    {
      tenant: 'red',
      namespace: 'coast',
      query: 'lighthouse',
      top_k: 3,
      mode: 'lexical',
      sources: ['a.md', 'b.md'],
      tags: ['sea'],
      from: '2026-01-31T00:00:00Z',
      to: '2026-03-01T12:00:00Z',
    },
  ]);
  t.match(await run(['search', 'x', '--mode', 'magic']), { code: 2, stderr: /hybrid, lexical/ });
});

t.test('questions of one’s own are measured, with citations when a model answers', async (t) => {
  const { run, cwd } = await open(t);
  const questions = [
    { question: 'When was it built?', sources: ['a.md'], pages: [3] },
    { question: 'Who built it?', sources: ['b.md', 'a.md'] },
    { question: 'And on page 4?', source: 'a.md', page: 4 },
    { question: 'How many moons has Jupiter?', unanswerable: true },
  ];
  await writeFile(join(cwd, 'questions.jsonl'), questions.map((each) => JSON.stringify(each)).join('\n'));
  const measured = await run(['eval', 'questions.jsonl', '--ask', '--json']);
  t.match(measured, { code: 0 }, measured.stderr);
  t.match(measured.json(), {
    questions: 4,
    answerable: 3,
    unanswerable: 1,
    hit_rate: { at_1: 0.6667 },
    mrr: 0.6667,
    recall_at_100: 0.5,
    refused: 1,
    wrongly_refused: 0,
    missed: [{ question: 'And on page 4?', rank: null, first: 'a.md' }],
    answers: { model: 'm', citations: 3, citation_precision: 0.6667, cited_rightly: 0.6667, uncited_when_unanswerable: 0 },
  });
  await writeFile(join(cwd, 'questions.json'), JSON.stringify(questions));
  t.match(await run(['eval', 'questions.json']), {
    code: 0,
    stdout: /nDCG@10 +0\.5\d\d.*not in the first 4 \(not found\): And on page 4/s,
  });
});

t.test('links are not followed, and a file outside of the working directory is named from its folder', async (t) => {
  const folder = t.testdir({ docs: { 'a.md': TEXT } });
  await symlink('/', join(folder, 'docs', 'loop'));
  const { files } = await findDocumentFiles([join(folder, 'docs')], '/usr');
  t.strictSame(
    files.map(({ source }) => source),
    ['docs/a.md'],
  );
});

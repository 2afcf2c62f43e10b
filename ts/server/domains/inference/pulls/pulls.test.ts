/** Pulls over HTTP, from servers that misbehave as the test says. */

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openTestBed } from '../../../platform/http/test-support/test-bed.ts';
import type { JobView } from '../../../platform/jobs/api/job-view.ts';
import { openJobs, until } from '../../../platform/jobs/test-support/open-jobs.ts';
import { newSqliteDatabase } from '../../../platform/storage/test-support/each-database.ts';
import { pullRoutes } from '../api/pull-routes.ts';
import { parseAllowedHost } from '../library/index.ts';
import { answer, type Behaviour, BrokenServer, cutAfter, sound } from '../library/test-support/broken-server.ts';
import { writeTinyModel } from '../library/test-support/tiny-model.ts';
import { unenforced } from '../test-support/unenforced.ts';
import { ModelPulls, type ModelPullsOptions } from './model-pulls.ts';

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const model = await writeTinyModel(join(t.testdir(), 'tiny.gguf'), { tensorBytes: 200_000 });
const other = await writeTinyModel(join(t.testdirName, 'other.gguf'), { tensorBytes: 200_000, fill: 9 });
const reference = 'owner/repo:tiny.gguf';

interface Answer {
  status: number;
  body: { job: JobView; pulls: JobView[]; error: string; detail: string } & JobView;
}

/** Sends a part and holds the rest back until the connection ends. */
const stalled: Behaviour = (_request, response) => {
  response.writeHead(200, { 'content-length': model.length, etag: '"v1"' });
  response.write(model.subarray(0, 70_000));
};

async function open(t: Test, last: Behaviour, queue: Behaviour[] = [], options: Partial<ModelPullsOptions> = {}) {
  const server = await BrokenServer.start(last, ...queue);
  t.teardown(() => server.stop());
  const { url, remove } = await newSqliteDatabase();
  t.teardown(remove);
  const { jobs, lines } = await openJobs(t, url);
  const modelsDir = join(t.testdir(), 'models');
  const pulled: string[] = [];
  const pulls = new ModelPulls({
    jobs,
    modelsDir,
    hub: server.base,
    allowedHosts: [],
    token: () => undefined,
    onPulled: () => pulled.push(...readdirSync(modelsDir)),
    retry: { maxAttempts: 2, baseMs: 1, idleMs: 10_000 },
    ...options,
  });
  await jobs.start();
  pulls.start();
  const bed = await openTestBed(t, pullRoutes({ pulls, jobs, security: unenforced }));
  const ask = async (method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> => {
    const init = { method, headers: { ...headers, ...(body && { 'content-type': 'application/json' }) } };
    const response = await fetch(`${bed.url}/api/v1/models${path}`, { ...init, ...(body && { body: JSON.stringify(body) }) });
    return { status: response.status, body: (await response.json()) as Answer['body'] };
  };
  const pull = (body: object) => ask('POST', '/pull', body);
  /** Follows a pull to its end. */
  const finish = async (body: object): Promise<JobView> => (await readEvents(await stream(bed.url, body))).at(-1) as JobView;
  return { server, modelsDir, pulled, bed, ask, pull, finish, lines, partial: join(modelsDir, 'tiny.gguf.partial') };
}

function stream(url: string, body: object, signal?: AbortSignal): Promise<Response> {
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
  const init = { method: 'POST', headers, body: JSON.stringify(body), ...(signal && { signal }) };
  return fetch(`${url}/api/v1/models/pull`, init);
}

async function readEvents(response: Response): Promise<JobView[]> {
  const frames = (await response.text()).split('\n\n').filter((frame) => frame.startsWith('id:'));
  return frames.map((frame) => JSON.parse(frame.slice(frame.indexOf('data: ') + 6)) as JobView);
}

const untilSize = (path: string, sizeBytes: number) =>
  until(
    () => (existsSync(path) ? statSync(path).size : 0),
    (size) => size >= sizeBytes,
  );

t.test('a pull is a job, whose progress counts bytes and whose result names the files', async (t) => {
  const { bed, pull, ask, modelsDir, pulled } = await open(t, sound(model));
  const begun = await pull({ reference });
  t.match(begun, { status: 202, body: { job: { kind: 'inference.pull', input: { reference } } } });
  const { body } = await until(
    () => ask('GET', '/pulls'),
    (listed) => listed.body.pulls[0]?.state === 'done',
  );
  t.match(body.pulls, [
    {
      id: begun.body.job.id,
      progress: { done: model.length, total: model.length, unit: 'bytes' },
      result: {
        name: 'tiny',
        already_here: false,
        files: [{ file: 'tiny.gguf', sha256: sha256(model), size_bytes: model.length }],
      },
    },
  ]);
  t.ok(readFileSync(join(modelsDir, 'tiny.gguf')).equals(model));
  t.ok(pulled.includes('tiny.gguf'), 'whoever serves models is told');
  const response = await fetch(`${bed.url}/api/v1/models/pulls?state=failed`);
  t.match(await response.json(), { pulls: [], next: null });
  t.match(await ask('GET', '/pulls?limit=1'), { body: { pulls: [{}], next: null } }, 'no page is behind one that is just full');
});

t.test('a stream follows the pull to its end, by `stream` or by Accept', async (t) => {
  const { bed, finish, pull } = await open(t, sound(model), [cutAfter(model, 70_000)]);
  t.match(await finish({ reference }), { state: 'done', result: { already_here: false } });
  const response = await fetch(`${bed.url}/api/v1/models/pull`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ reference, stream: true }),
  });
  t.equal(response.headers.get('content-type'), 'text/event-stream');
  t.match((await readEvents(response)).at(-1), { state: 'done', result: { already_here: true } });
  t.equal((await pull({ reference, stream: false })).status, 202);
});

t.test('a client that leaves does not end the pull', async (t) => {
  const release = Promise.withResolvers<void>();
  const { bed, ask, modelsDir, partial } = await open(t, async (_request, response) => {
    response.writeHead(200, { 'content-length': model.length, etag: '"v1"' });
    response.write(model.subarray(0, 70_000));
    await release.promise;
    response.end(model.subarray(70_000));
  });
  const aborter = new AbortController();
  await stream(bed.url, { reference }, aborter.signal);
  await untilSize(partial, 70_000);
  aborter.abort();
  release.resolve();
  await until(
    () => ask('GET', '/pulls?state=done'),
    ({ body }) => body.pulls.length === 1,
  );
  t.ok(readFileSync(join(modelsDir, 'tiny.gguf')).equals(model));
});

t.test('a second pull of the same model joins the first, another file of that name is refused', async (t) => {
  const { pull, server, partial } = await open(t, stalled);
  const first = await pull({ reference });
  await untilSize(partial, 70_000);
  t.equal((await pull({ reference })).body.job.id, first.body.job.id);
  t.match(await pull({ reference: 'someone/else:tiny.gguf' }), { status: 409, body: { error: 'model_in_use' } });
  t.equal(server.seen.length, 1);
});

t.test('a cancelled pull keeps what has come, and the next one continues it', async (t) => {
  const { ask, pull, finish, server, partial } = await open(t, sound(model), [stalled]);
  const { id } = (await pull({ reference })).body.job;
  await untilSize(partial, 70_000);
  t.match(await ask('DELETE', `/pulls/${id}`), { status: 200, body: { id, cancel_requested: true } });
  await until(
    () => ask('GET', '/pulls?state=cancelled'),
    ({ body }) => body.pulls.length === 1,
  );
  t.equal(statSync(partial).size, 70_000);
  t.match(await finish({ reference }), { state: 'done' });
  t.equal(server.seen[1]?.headers.range, 'bytes=70000-');
  t.match(await ask('DELETE', `/pulls/${id}`), { status: 200, body: { state: 'cancelled' } }, 'again is no error');
  t.match(await ask('DELETE', '/pulls/nothing'), { status: 404, body: { error: 'job_not_found' } });
});

t.test('what can be told at once is refused at once', async (t) => {
  const { pull, ask, server } = await open(t, sound(model));
  const refusals = [
    ['no-such-model', 404, 'model_source_not_found'],
    ['owner/repo:../../etc/passwd.gguf', 400, 'invalid_request'],
    ['owner/repo:page.html', 400, 'invalid_request'],
    ['http://files.example/x.gguf', 400, 'address_refused'],
    ['https://127.0.0.1/x.gguf', 400, 'address_refused'],
    ['https://169.254.169.254/x.gguf', 400, 'address_refused'],
    ['https://[::ffff:10.0.0.1]/x.gguf', 400, 'address_refused'],
    ['https://2130706433/x.gguf', 400, 'address_refused'],
    [`${server.base.origin.replace(/\d+$/, '1')}/x.gguf`, 400, 'address_refused'],
  ] as const;
  for (const [asked, status, error] of refusals) t.match(await pull({ reference: asked }), { status, body: { error } }, asked);
  t.match(await pull({ reference, name: '../x' }), { status: 400, body: { error: 'invalid_request' } });
  t.equal((await pull({ reference, sha256: 'abc' })).status, 400);
  t.equal((await pull({})).status, 400);
  t.match((await ask('GET', '/pulls')).body.pulls, []);
  t.equal(server.seen.length, 0);
});

t.test('a host inside the network is reached when the operator allows it', async (t) => {
  const { finish, server } = await open(t, sound(model), [], {
    hub: new URL('https://hub.example'),
    allowedHosts: [parseAllowedHost('http://127.0.0.1')],
  });
  t.match(await finish({ reference: `${server.base.origin}/x.gguf` }), { state: 'done' });
});

t.test('why a pull failed stands in its job', async (t) => {
  const failures: [string, Behaviour, object][] = [
    ['source_needs_permission', answer(401), {}],
    ['model_source_not_found', answer(404), {}],
    ['source_refused', answer(400), {}],
    ['source_unreachable', answer(503), {}],
    ['not_a_model', answer(200, {}, '<!DOCTYPE html>'), {}],
    ['checksum_mismatch', sound(other), { sha256: sha256(model) }],
    ['address_refused', answer(302, { location: 'https://10.0.0.1/x' }), {}],
  ];
  for (const [code, behaviour, more] of failures) {
    const { finish } = await open(t, behaviour);
    const job = await finish({ reference, ...more });
    t.match(job, { state: 'failed', attempts: 1, error: { code, remedy: /\w/ } }, code);
  }
});

t.test('another file of that name is replaced only with force', async (t) => {
  const { finish, modelsDir } = await open(t, sound(other));
  mkdirSync(modelsDir);
  writeFileSync(join(modelsDir, 'tiny.gguf'), model);
  t.match(await finish({ reference, sha256: sha256(other) }), { error: { code: 'model_exists', remedy: /"force"/ } });
  t.match(await finish({ reference, sha256: sha256(other), force: true }), { state: 'done' });
  t.ok(readFileSync(join(modelsDir, 'tiny.gguf')).equals(other));
});

t.test('neither the token nor the signature of an address is shown', async (t) => {
  const token = 'a-very-secret-token';
  const allowedHosts = [parseAllowedHost('http://127.0.0.1')];
  const { bed, finish, server, lines } = await open(t, sound(model), [cutAfter(model, 70_000)], {
    token: () => token,
    allowedHosts,
  });
  const pulled = [
    await finish({ reference }),
    await finish({ reference: `${server.base.origin}/x.gguf?X-Signature=secret-too` }),
  ];
  t.equal(server.seen[0]?.headers.authorization, `Bearer ${token}`);
  t.equal(server.seen.at(-1)?.url, '/x.gguf?X-Signature=secret-too');
  const shown = JSON.stringify([pulled, lines, bed.lines]);
  t.notMatch(shown, token);
  t.notMatch(shown, 'secret-too');
});

t.test('the catalogue says what can be fetched by name, and how much the disk takes', async (t) => {
  const { bed } = await open(t, sound(model));
  const { data, space_bytes } = (await (await fetch(`${bed.url}/api/v1/models/catalogue`)).json()) as {
    data: { name: string; kind: string; size_bytes: number }[];
    space_bytes: number;
  };
  t.match(
    data.find(({ name }) => name === 'bge-m3-q8_0'),
    { kind: 'embedding', size_bytes: 634_553_760, license: 'MIT', is_pinned: true, source: /:bge-m3-q8_0\.gguf$/ },
  );
  t.ok(Number.isSafeInteger(space_bytes) && space_bytes >= 0);
});

/**
 * A recording becomes a document: it is heard by a job, found by what is said in it, and cited by its seconds; what was heard is not heard again, also
 * where the server is killed meanwhile. SVC_TEST_KILLS sets how many times that is.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { writeScriptedSpeechModel } from '../models/random/speech-model.ts';
import { sine, wav } from '../ts/server/domains/inference/media/test-support/sounds.ts';
import { startServer } from './server.ts';
import { iterations } from './test-support/iterations.ts';
import { random } from './test-support/seed.ts';

t.setTimeout(600_000);

/** A search finds so many at most; an hour has more passages. */
const MOST_FOUND = 100;

const folder = t.testdir({});
mkdirSync(join(folder, 'models'), { recursive: true });
const start = () => startServer(t, { folder, models: {}, env: { SVC_MODELS_SHIPPED: 'true', SVC_DATA_EMBEDDING_URL: '' } });
let server = await start();

async function ask(path: string, body: object | Uint8Array, headers: Record<string, string> = {}) {
  const isBytes = body instanceof Uint8Array;
  const type = isBytes ? 'application/octet-stream' : 'application/json';
  const init = {
    method: 'POST',
    body: isBytes ? Buffer.from(body) : JSON.stringify(body),
    headers: { 'content-type': type, ...headers },
  };
  const response = await fetch(`${server.url}${path}`, init);
  return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) };
}

async function askJson(path: string, body: object | Uint8Array, headers: Record<string, string> = {}) {
  const { status, bytes } = await ask(path, body, headers);
  return { status, body: JSON.parse(bytes.toString()) as Record<string, unknown> };
}

async function upload(filename: string, content: Uint8Array, namespace: string) {
  const begun = await askJson('/api/v1/upload/init', { filename, size: content.length, namespace });
  if (begun.status !== 201) throw new Error(JSON.stringify(begun.body));
  const id = String(begun.body['upload_id']);
  const size = Number(begun.body['chunk_size'] ?? content.length);
  for (let i = 0; i * size < content.length; i++)
    await askJson('/api/v1/upload/chunk', content.subarray(i * size, (i + 1) * size), {
      'x-upload-id': id,
      'x-chunk-index': String(i),
    });
  return await askJson('/api/v1/upload/finalize', { upload_id: id });
}

const read = async (path: string) => (await (await fetch(server.url + path)).json()) as Record<string, unknown>;

async function ended(job: string): Promise<Record<string, unknown>> {
  await (await fetch(`${server.url}/api/v1/system/jobs/${job}/events`)).text();
  return await read(`/api/v1/system/jobs/${job}`);
}

/** Adds a file to a knowledge base, and waits for the job that indexes it. */
async function add(filename: string, content: Uint8Array, namespace = 'talks'): Promise<Record<string, unknown>> {
  const { status, body } = await upload(filename, content, namespace);
  if (status !== 202) throw new Error(`${status} ${JSON.stringify(body)}`);
  return await ended(String(body['job_id']));
}

/** Recordings that became text in this life of the server. */
async function nHeard(): Promise<number> {
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  return Number(/^svc_media_jobs_total\{kind="transcription"\} (\d+)/m.exec(metrics)?.[1] ?? 0);
}

const spoken = await ask('/api/v1/tts/synthesize', {
  text: 'This is somebody who speaks for quite a while. It matters little what.',
  format: 'wav',
});
const noVoice = spoken.status !== 200 && 'no engine of voices is installed';

t.test('what was added before there was a speech model is heard by a rebuild', { skip: noVoice }, async (t) => {
  const early = await upload('early.wav', spoken.bytes, 'early');
  t.match(early, { status: 201, body: { state: 'stored', detail: /svc kb rebuild/ } });
  await writeScriptedSpeechModel(join(folder, 'models', 'scripted.bin'), {
    says: [0, ' The', ' treasure', ' lies', ' under', ' the', ' bridge', '.', 1, 1, ' Nobody', ' knows', ' it', '.', 2],
    language: 0,
  });
  await server.stop();
  server = await start();
  t.equal((await askJson('/api/v1/vector/namespaces/default/early/rebuild', {})).status, 200);
  const { jobs } = (await read('/api/v1/system/jobs')) as { jobs: { id: string; kind: string }[] };
  const job = jobs.find(({ kind }) => kind === 'data.index');
  t.match(await ended(String(job?.id)), { state: 'done', result: { source: 'early.wav', state: 'indexed' } });
  const found = await askJson('/api/v1/vector/search', {
    tenant: 'default',
    namespace: 'early',
    query: 'Where is the treasure?',
  });
  t.match(found.body, { results: [{ text: /treasure/, start_seconds: Number }] });
  t.equal(await nHeard(), 1);
});

t.test('what is said is found, and has its seconds', { skip: noVoice }, async (t) => {
  const job = await add('talk.wav', spoken.bytes);
  t.match(job, { state: 'done', result: { source: 'talk.wav', state: 'indexed' } });
  const found = await askJson('/api/v1/vector/search', {
    tenant: 'default',
    namespace: 'talks',
    query: 'Where is the treasure?',
  });
  const [first] = found.body['results'] as { text: string; start_seconds: number; end_seconds: number }[];
  t.match(first?.text, /The treasure lies under the bridge\./);
  t.ok((first?.start_seconds ?? -1) >= 0 && (first?.end_seconds ?? 0) > (first?.start_seconds ?? 0), JSON.stringify(first));
  const listed = await (await fetch(`${server.url}/api/v1/vector/namespaces/default/talks/documents`)).text();
  t.match(listed, /"kind":"audio-transcript"/);
  t.equal(await nHeard(), 1, 'the same bytes were heard for another knowledge base already');
});

t.test('a recording in which nobody speaks is kept without text', async (t) => {
  const job = await add('tone.wav', wav(sine(440, 16_000, 2), 16_000));
  t.match(job, { state: 'done', result: { source: 'tone.wav', chunks: 0, state: 'stored', detail: /nobody speaks in it/ } });
});

t.test('a file that only begins like a recording fails with the reason', async (t) => {
  const job = await add('broken.wav', Buffer.concat([Buffer.from('RIFF\x24\0\0\0WAVE'), Buffer.alloc(60, 7)]));
  t.match(job, { state: 'failed', error: { code: 'invalid_media' } });
});

t.test('a server that is killed goes on behind the last window', { skip: noVoice }, async (t) => {
  const nKills = iterations(2, 6, 'SVC_TEST_KILLS');
  const minutes = iterations(5, 10, 'SVC_TEST_MINUTES');
  const said = new Int16Array(spoken.bytes.buffer, spoken.bytes.byteOffset + 44, (spoken.bytes.length - 44) >> 1);
  // 8,000 samples a second.
  const piece = Float32Array.from({ length: Math.floor(said.length / 3) }, (_, i) => (said[i * 3] ?? 0) / 32_768);
  const samples = new Float32Array(minutes * 60 * 8_000);
  for (let at = 0; at < samples.length; at += piece.length) samples.set(piece.subarray(0, samples.length - at), at);
  const { body } = await upload('long.wav', wav(samples, 8_000), 'long');
  const job = String(body['job_id']);
  let heard = 0;
  for (let i = 0; i < nKills; i++) {
    const least = heard + 1 + random.integer(60);
    let seen = heard;
    for (;;) {
      const { state, progress } = (await read(`/api/v1/system/jobs/${job}`)) as {
        state: string;
        progress: { done: number; unit: string } | null;
      };
      if (progress?.unit === 'seconds' && progress.done !== seen) {
        // What was told and not yet on disk is heard again: a window at most.
        t.ok(progress.done > seen - 30, `${progress.done} s is more than a window before ${seen} s`);
        seen = progress.done;
      }
      if (seen >= least || state === 'done') break;
      await wait(10);
    }
    heard = seen;
    await server.stop('SIGKILL');
    server = await start();
  }
  t.match(await ended(job), { state: 'done', result: { state: 'indexed' } });
  const { data } = (await read('/api/v1/vector/namespaces/default/long/documents')) as { data: { id: string }[] };
  const { text } = (await read(`/api/v1/vector/documents/default/long/${data[0]?.id}`)) as { text: string };
  t.ok(heard > 0 && text.split('treasure').length > 5, text.slice(0, 200));
  const found = await askJson('/api/v1/vector/search', {
    tenant: 'default',
    namespace: 'long',
    query: 'treasure',
    top_k: MOST_FOUND,
  });
  const places = (found.body['results'] as { start_seconds: number; end_seconds: number; start: number }[]).toSorted(
    (a, b) => a.start - b.start,
  );
  for (const [i, { start_seconds: begin }] of places.entries())
    t.ok(i === 0 || begin >= (places[i - 1]?.start_seconds ?? 0), `passage ${i} begins at ${begin} s`);
  const last = places.at(-1)?.end_seconds ?? 0;
  t.ok(places.length === MOST_FOUND || last > minutes * 60 - 60, `it was heard to ${last} s`);
});

/** A recording becomes a document: it is heard by a job, found by what is said in it, and cited by its seconds. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { writeScriptedSpeechModel } from '../models/random/scripted-speech-model.ts';
import { sine, wav } from '../ts/server/domains/inference/media/test-support/sounds.ts';
import { startServer } from './server.ts';

const folder = t.testdir({});
mkdirSync(join(folder, 'models'), { recursive: true });
await writeScriptedSpeechModel(join(folder, 'models', 'scripted.bin'), {
  says: [0, ' The', ' treasure', ' lies', ' under', ' the', ' bridge', '.', 1, 1, ' Nobody', ' knows', ' it', '.', 2],
  language: 0,
});
const server = await startServer(t, { folder, models: {}, env: { SVC_MODELS_SHIPPED: 'true', SVC_DATA_EMBEDDING_URL: '' } });

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

/** Adds a file to a knowledge base, and waits for the job that indexes it. */
async function add(filename: string, content: Uint8Array): Promise<Record<string, unknown>> {
  const begun = await askJson('/api/v1/upload/init', { filename, size: content.length, namespace: 'talks' });
  if (begun.status !== 201) throw new Error(JSON.stringify(begun.body));
  const id = String(begun.body['upload_id']);
  await askJson('/api/v1/upload/chunk', content, { 'x-upload-id': id, 'x-chunk-index': '0' });
  const ended = await askJson('/api/v1/upload/finalize', { upload_id: id });
  if (ended.status !== 202) throw new Error(`${ended.status} ${JSON.stringify(ended.body)}`);
  const job = `${server.url}/api/v1/system/jobs/${ended.body['job_id']}`;
  await (await fetch(`${job}/events`)).text();
  return (await (await fetch(job)).json()) as Record<string, unknown>;
}

const spoken = await ask('/api/v1/tts/synthesize', {
  text: 'This is somebody who speaks for quite a while. It matters little what.',
  format: 'wav',
});
const noVoice = spoken.status !== 200 && 'no engine of voices is installed';

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
});

t.test('a recording in which nobody speaks is kept without text', async (t) => {
  const job = await add('tone.wav', wav(sine(440, 16_000, 2), 16_000));
  t.match(job, { state: 'done', result: { source: 'tone.wav', chunks: 0, state: 'stored', detail: /nobody speaks in it/ } });
});

t.test('a file that only begins like a recording fails with the reason', async (t) => {
  const job = await add('broken.wav', Buffer.concat([Buffer.from('RIFF\x24\0\0\0WAVE'), Buffer.alloc(60, 7)]));
  t.match(job, { state: 'failed', error: { code: 'invalid_media' } });
});

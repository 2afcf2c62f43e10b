/** Voices of GGUF files over HTTP: they are listed, speak as other voices do, are loaded once, and their files hurt nobody. */
import { copyFileSync, mkdirSync, readFileSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { randomVoice } from '../models/random/fixture.ts';
import { sine, wav } from '../ts/server/domains/inference/media/test-support/sounds.ts';
import { startServer } from './server.ts';

t.setTimeout(120_000);

const files = await randomVoice();
const folder = t.testdir({});
const voicesDir = join(folder, 'voices');
mkdirSync(voicesDir);
/** A file that is older than the time for which an inspection leaves a new one alone. */
function put(name: string, bytes: Uint8Array): void {
  writeFileSync(join(voicesDir, name), bytes);
  utimesSync(join(voicesDir, name), 1e9, 1e9);
}
put('noise.gguf', readFileSync(files.model));
put('mmproj.gguf', readFileSync(files.projector));
put('tone.wav', wav(sine(200, 44_100, 1), 44_100));
put('short.wav', wav(sine(200, 44_100, 0.05), 44_100));
put('text.wav', Buffer.from('no sound at all'));
const carla = { engine: 'gguf', model: 'noise.gguf', mmproj: 'mmproj.gguf', language: 'en', license: 'CC0-1.0' };
const voices = {
  carla,
  dora: { ...carla, sample: 'tone.wav' },
  emil: { ...carla, seed: 7 },
  mute: { ...carla, sample: 'text.wav' },
  nora: { ...carla, sample: 'short.wav' },
  wrong: { ...carla, mmproj: 'noise.gguf' },
};
for (const [name, value] of Object.entries(voices)) writeFileSync(join(voicesDir, `${name}.json`), JSON.stringify(value));
const server = await startServer(t, { folder, env: { SVC_MEDIA_VOICES_DIR: voicesDir, SVC_MEDIA_VOICE: 'carla' } });

function post(body: object, headers = {}, path = '/api/v1/tts/synthesize') {
  const init = { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } };
  return fetch(`${server.url}${path}`, init);
}

async function say(body: object, headers = {}) {
  const response = await post({ format: 'pcm', ...body }, headers);
  const bytes = Buffer.from(await response.arrayBuffer());
  const { error = '', detail = '' } = response.ok ? {} : (JSON.parse(bytes.toString()) as { error: string; detail: string });
  return { status: response.status, bytes, error, detail };
}

const text = 'Oh. Is it?';
/** Whole frames of both sentences. */
const FRAME_BYTES = 2 * 1920;

t.test('they are listed, and what is wrong with a file is told', async (t) => {
  const list = (await (await fetch(`${server.url}/api/v1/tts/voices`)).json()) as { voices: { id: string }[]; note: string };
  const own = list.voices.filter(({ id }) => id in voices);
  t.match(own, [
    { id: 'carla', engine: 'gguf', sample_rate: 24_000, license: 'CC0-1.0', is_default: true },
    { id: 'dora' },
    { id: 'emil' },
    { id: 'mute' },
    { id: 'nora' },
  ]);
  t.match(list.note, /wrong\.json: /);
});

t.test('a text becomes whole frames of sound, the same ones each time, and others for another voice', async (t) => {
  const { status, bytes, detail } = await say({ text });
  t.equal(status, 200, detail);
  t.ok(
    bytes.length > 20 * FRAME_BYTES && Math.abs((bytes.length % FRAME_BYTES) - FRAME_BYTES / 2) > FRAME_BYTES / 4,
    `${bytes.length}`,
  );
  t.ok((await say({ text })).bytes.equals(bytes));
  t.notOk((await say({ text, voice: 'dora' })).bytes.equals(bytes));
  const fast = await say({ text, speed: 2 });
  t.ok(Math.abs(fast.bytes.length / bytes.length - 0.5) < 0.1, `${fast.bytes.length} of ${bytes.length}`);
});

t.test('the first sound comes before the last is made, and the next caller is answered after one that goes', async (t) => {
  const long = 'This sentence is one of very many. '.repeat(100);
  const response = await post({ text: long, format: 'pcm', stream: 'audio' });
  const reader = response.body?.getReader();
  const first = await reader?.read();
  t.ok((first?.value?.length ?? 0) > 0);
  const status = async () =>
    ((await (await fetch(`${server.url}/api/v1/media/status`)).json()) as { queue: { texts: number } }).queue.texts;
  t.equal(await status(), 1, 'it is still being spoken');
  await reader?.cancel();
  t.equal((await say({ text, service_tier: 'flex' })).status, 200);
  t.equal((await say({ text: long }, { 'x-request-timeout': '0.05' })).error, 'deadline_exceeded');
});

t.test('OpenAI’s route speaks with them, too', async (t) => {
  const body = { input: text, model: 'gguf', voice: 'emil', response_format: 'wav' };
  const response = await post(body, {}, '/v1/audio/speech');
  t.equal(response.status, 200);
  t.equal(Buffer.from(await response.arrayBuffer()).toString('latin1', 0, 4), 'RIFF');
});

t.test('a sample that is no sound, and files that are damaged later, hurt their own voice alone', async (t) => {
  t.match(await say({ text, voice: 'mute' }), {
    status: 503,
    error: 'voice_unusable',
    detail: /mute cannot be used: its sample/,
  });
  t.match(await say({ text, voice: 'nora' }), { status: 503, error: 'voice_unusable' });
  copyFileSync(join(voicesDir, 'noise.gguf'), join(voicesDir, 'cut.gguf'));
  truncateSync(join(voicesDir, 'cut.gguf'), 40_000);
  writeFileSync(join(voicesDir, 'zoe.json'), JSON.stringify({ ...carla, model: 'cut.gguf' }));
  t.match(await say({ text, voice: 'zoe' }), { status: 404, error: 'voice_not_found' });
  t.equal((await say({ text, voice: 'dora' })).status, 200);
});

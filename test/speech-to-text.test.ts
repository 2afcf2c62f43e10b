/** The server's own route for recordings: forms and stored files, times, speakers, events, jobs, and what the use of it came to. */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { writeScriptedSpeechModel } from '../models/random/speech-model.ts';
import { sine, wav } from '../ts/server/domains/inference/media/test-support/sounds.ts';
import { findFfmpeg } from '../ts/server/domains/media/index.ts';
import { startServer } from './server.ts';

const folder = t.testdir({});
mkdirSync(join(folder, 'models'), { recursive: true });
await writeScriptedSpeechModel(join(folder, 'models', 'scripted.bin'), {
  says: [0, ' Zwei', ' Wörter', 1, 1, ' und', ' mehr.', 2],
  language: 2,
});
await writeScriptedSpeechModel(join(folder, 'models', 'turns.en-tdrz.bin'), {
  says: [0, ' Zwei', null, 1, 1, ' und', ' mehr.', 2],
  language: 2,
});
const server = await startServer(t, { folder, env: { SVC_MEDIA_SPEECH_MODEL: 'scripted' } });
const bytes = wav(sine(440, 16_000, 3), 16_000);
const TEXT = 'Zwei Wörter und mehr.';
const noFfmpeg = findFfmpeg() === undefined && 'ffmpeg is not installed';

interface Answer {
  status: number;
  text: string;
  body: Record<string, unknown>;
  headers: Headers;
}

async function ask(path: string, init: RequestInit): Promise<Answer> {
  const response = await fetch(`${server.url}${path}`, { method: 'POST', ...init });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return { status: response.status, text, body: isJson ? JSON.parse(text) : {}, headers: response.headers };
}

function sendForm(fields: Record<string, string | Blob>, path = '/api/v1/stt/transcribe', headers = {}): Promise<Answer> {
  const form = new FormData();
  for (const [name, value] of Object.entries({ file: new Blob([bytes]), vad: 'false', ...fields }))
    if (typeof value === 'string') form.append(name, value);
    else form.append(name, value, 'sound.wav');
  return ask(path, { body: form, headers });
}

function sendJson(body: object, path = '/api/v1/stt/transcribe'): Promise<Answer> {
  return ask(path, { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });
}

/** Both channels of a WAV file of 16 bits. */
function stereo(left: readonly number[], right: readonly number[]): Buffer {
  const frames = Buffer.alloc(left.length * 4);
  left.forEach((sample, i) => {
    frames.writeInt16LE(Math.round(sample * 32_767), i * 4);
    frames.writeInt16LE(Math.round((right[i] ?? 0) * 32_767), i * 4 + 2);
  });
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + frames.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(2, 22);
  head.writeUInt32LE(16_000, 24);
  head.writeUInt32LE(64_000, 28);
  head.writeUInt16LE(4, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(frames.length, 40);
  return Buffer.concat([head, frames]);
}

async function storeFile(content: Uint8Array, purpose = 'media'): Promise<string> {
  const form = new FormData();
  form.append('purpose', purpose);
  form.append('file', new Blob([content as Uint8Array<ArrayBuffer>]), 'sound.wav');
  const { body } = await ask('/v1/files', { body: form });
  return String(body['id']);
}

t.test('a form becomes text with times, at both paths', async (t) => {
  const expected = {
    status: 200,
    body: {
      text: TEXT,
      language: 'de',
      duration: 3,
      model: 'scripted',
      segments: [
        { id: 0, start: 0, end: 1, text: 'Zwei Wörter' },
        { id: 1, start: 1, end: 2, text: 'und mehr.' },
      ],
      usage: { type: 'duration', seconds: 3 },
    },
  };
  const answer = await sendForm({});
  t.match(answer, expected);
  t.type(answer.body['speech_seconds'], 'number');
  const [segment] = answer.body['segments'] as Record<string, unknown>[];
  t.strictSame(Object.keys(segment ?? {}).sort(), ['avg_logprob', 'end', 'id', 'no_speech_prob', 'start', 'text']);
  t.match(await sendForm({}, '/api/v1/media/stt'), expected);
});

t.test('words have times and probabilities', async (t) => {
  const { body } = await sendForm({ words: '1' });
  const segments = body['segments'] as { words: { word: string; start: number; end: number; probability: number }[] }[];
  const words = segments.flatMap((segment) => segment.words);
  t.strictSame(
    words.map(({ word }) => word),
    ['Zwei', 'Wörter', 'und', 'mehr.'],
  );
  t.ok(words.every(({ start, end, probability }) => start <= end && probability >= 0 && probability <= 1));
});

t.test('subtitles have lines of the length that is asked for', async (t) => {
  t.match(await sendForm({ format: 'text' }), { status: 200, text: `${TEXT}\n` });
  t.match(await sendForm({ format: 'vtt' }), { text: /^WEBVTT\n\n00:00:00\.000 --> 00:00:01\.000\nZwei Wörter\n/ });
  t.match(await sendForm({ format: 'srt', max_line_length: '8' }), { text: /^1\n00:00:00,000 --> 00:00:01,000\nZwei\nWörter\n/ });
});

t.test('a stored file is named in JSON, and another’s or a missing one is not found', async (t) => {
  const id = await storeFile(bytes);
  t.match(await sendJson({ file_id: id, vad: false }), { status: 200, body: { text: TEXT } });
  t.match(await sendJson({ file_id: 'file-00000000000000000000000000000000' }), {
    status: 404,
    body: { error: 'file_not_found' },
  });
  t.match(await sendForm({ file_id: id }), { status: 400, body: { error: 'invalid_request' } });
  t.match(await sendJson({ vad: false }), { status: 400, body: { error: 'invalid_request' } });
  t.match(await sendJson({ file_id: { id } }), { status: 400, body: { error: 'invalid_request' } });
  t.match(await ask('/api/v1/stt/transcribe', { body: '{', headers: { 'content-type': 'application/json' } }), {
    status: 400,
    body: { error: 'invalid_json' },
  });
});

async function upload(content: Uint8Array, more: object = {}): Promise<Answer> {
  const init = { filename: 'long.wav', size: content.length, sha256: createHash('sha256').update(content).digest('hex') };
  const begun = await sendJson({ ...init, purpose: 'media', ...more }, '/api/v1/upload/init');
  if (begun.status !== 201) return begun;
  const headers = { 'x-upload-id': String(begun.body['upload_id']), 'x-chunk-index': '0' };
  await ask('/api/v1/upload/chunk', {
    body: Buffer.from(content),
    headers: { ...headers, 'content-type': 'application/octet-stream' },
  });
  const finalized = () => ask('/api/v1/upload/finalize', { headers: { 'x-upload-id': headers['x-upload-id'] } });
  await finalized();
  return await finalized();
}

t.test('an upload with the purpose media becomes a file, and says what it is', async (t) => {
  const { status, body } = await upload(bytes);
  t.match({ status, body }, { status: 201, body: { bytes: bytes.length, kind: 'audio', duration: 3 } });
  t.match(await sendJson({ file_id: body['file_id'], vad: false }), { status: 200, body: { text: TEXT } });
  t.match(await upload(bytes, { namespace: 'notes' }), { status: 400, body: { error: 'invalid_request' } });
  t.match(await upload(Buffer.from('no sound at all')), { status: 400, body: { error: 'invalid_media' } });
});

t.test('two channels that differ are two speakers, and one channel is refused', { skip: noFfmpeg }, async (t) => {
  const loud = Array.from(sine(440, 16_000, 1.2));
  const quiet = loud.map(() => 0);
  const turns = stereo([...loud, ...quiet, ...quiet], [...quiet, ...loud, ...loud]);
  const { status, body } = await sendForm({ file: new Blob([turns as Uint8Array<ArrayBuffer>]), diarize: 'true' });
  t.equal(status, 200);
  t.match(body['segments'], [{ speaker: 'A' }, { speaker: 'B' }]);
  const equal = stereo(loud, loud);
  for (const file of [bytes, equal])
    t.match(await sendForm({ file: new Blob([file as Uint8Array<ArrayBuffer>]), diarize: 'true' }), {
      status: 422,
      body: { error: 'diarization_unavailable' },
    });
  const diarized = await sendForm(
    { file: new Blob([turns as Uint8Array<ArrayBuffer>]), response_format: 'diarized_json' },
    '/v1/audio/transcriptions',
  );
  t.match(diarized, { status: 200, body: { task: 'transcribe', segments: [{ id: 'seg_0', speaker: 'A' }, { speaker: 'B' }] } });
});

t.test('a model that marks turns tells speakers of one channel apart', async (t) => {
  const { status, body } = await sendForm({ diarize: 'true', model: 'turns.en-tdrz' });
  t.equal(status, 200, JSON.stringify(body));
  t.match(body['segments'], [
    { speaker: 'A', text: 'Zwei' },
    { speaker: 'B', text: 'und mehr.' },
  ]);
  const unasked = await sendForm({ model: 'turns.en-tdrz' });
  t.equal(unasked.status, 200, unasked.text);
  t.notMatch(unasked.text, 'speaker', 'only where it is asked for');
});

t.test('a stream has segments, progress, and the whole answer', async (t) => {
  const { text, headers } = await sendForm({ stream: 'true' });
  t.match(headers.get('content-type'), 'text/event-stream');
  const events = [...text.matchAll(/^event: (.+)\ndata: (.+)$/gm)].map(([, event = '', data = '']) => ({
    event,
    data: JSON.parse(data) as Record<string, unknown>,
  }));
  t.strictSame([...new Set(events.map(({ event }) => event))], ['segment', 'progress', 'done']);
  t.match(events.find(({ event }) => event === 'progress')?.data, { done_seconds: Number });
  t.match(events.at(-1)?.data, { text: TEXT, model: 'scripted' });
});

t.test('what runs in the background is a job whose result is the text', async (t) => {
  const form = await sendForm({ background: 'true', words: 'true' });
  t.equal(form.status, 202);
  const byId = await sendJson({ file_id: await storeFile(bytes), background: true, vad: false });
  for (const { body } of [form, byId]) {
    const events = await fetch(`${server.url}/api/v1/system/jobs/${body['job_id']}/events`);
    await events.text();
    const job = (await (await fetch(`${server.url}/api/v1/system/jobs/${body['job_id']}`)).json()) as Record<string, unknown>;
    t.match(job, { kind: 'media.transcribe', state: 'done', result: { text: TEXT, model: 'scripted' } });
  }
  const left = readdirSync(join(folder, 'data', 'cache', 'media-jobs'), { recursive: true, withFileTypes: true });
  t.notOk(
    left.some((entry) => entry.isFile()),
    'no recording stays on the disk',
  );
  const broken = await sendForm({ file: new Blob(['no sound at all']), background: 'true' });
  const events = await fetch(`${server.url}/api/v1/system/jobs/${broken.body['job_id']}/events`);
  t.match(await events.text(), /"state":"failed".*"code":"invalid_media"/);
});

t.test('refusals', async (t) => {
  const cases: [what: string, answer: Promise<Answer>, status: number, error: string][] = [
    ['an unknown model', sendForm({ model: 'nobody' }), 404, 'model_not_found'],
    ['an unknown model in the background', sendForm({ model: 'nobody', background: '1' }), 404, 'model_not_found'],
    ['an unknown language', sendForm({ language: 'xx' }), 400, 'invalid_language'],
    ['an unknown format', sendForm({ format: 'docx' }), 400, 'invalid_request'],
    ['an unknown field', sendForm({ beam: '5' }), 400, 'invalid_request'],
    ['an unknown tier', sendForm({ service_tier: 'gold' }), 400, 'invalid_request'],
    ['a boolean', sendForm({ words: 'yes' }), 400, 'invalid_request'],
    ['a stream of a job', sendForm({ stream: '1', background: '1' }), 400, 'invalid_request'],
    ['a stream of subtitles', sendForm({ stream: '1', format: 'srt' }), 400, 'invalid_request'],
    ['a text', sendForm({ file: new Blob(['no sound at all']) }), 400, 'invalid_media'],
    ['a text as a stream', sendForm({ file: new Blob(['no sound at all']), stream: '1' }), 400, 'invalid_media'],
    ['no time', sendForm({}, '/api/v1/media/stt', { 'x-request-timeout': '0.001' }), 504, 'deadline_exceeded'],
    [
      'no form',
      ask('/api/v1/stt/transcribe', { body: 'x', headers: { 'content-type': 'text/plain' } }),
      415,
      'unsupported_media_type',
    ],
  ];
  for (const [what, answer, status, error] of cases) t.match(await answer, { status, body: { error } }, what);
  t.strictSame(readdirSync(join(folder, 'data', 'cache', 'media')), [], 'no recording stays on the disk');
});

t.test('what 5.0 does not serve is missing, and says of which module', async (t) => {
  for (const path of ['/api/v1/stt/stream', '/api/v1/tts/stream', '/api/v1/video/transcribe'])
    t.match(await sendJson({}, path), { status: 404, body: { error: 'route_not_found', module: 'media', method: 'POST' } }, path);
  t.match(await sendJson({}, '/api/v1/voice/chat'), { status: 404, body: { error: 'not_found' } });
});

t.test('the use of it is counted in seconds of sound, and metrics tell of work and refusals', async (t) => {
  const usage = (await (await fetch(`${server.url}/api/v1/metering/usage?by=model`)).json()) as {
    data: { id: string; audio_seconds: number; characters: number }[];
  };
  const line = usage.data.find(({ id }) => id === 'scripted');
  t.ok((line?.audio_seconds ?? 0) >= 30, JSON.stringify(usage));
  t.equal(line?.characters, 0);
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  t.match(metrics, /svc_media_jobs_total\{kind="transcription"\} \d+/);
  t.match(metrics, /svc_media_refusals_total\{reason="invalid_media"\} \d+/);
});

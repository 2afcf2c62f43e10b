/** Recordings become text over HTTP: every format, as the unmodified `openai` package asks for them, and every refusal. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import OpenAI, { toFile } from 'openai';
import t from 'tap';
import { writeScriptedSpeechModel } from '../models/random/speech-model.ts';
import { runCli } from '../ts/cli/run-cli.ts';
import { sine, wav } from '../ts/server/domains/inference/media/test-support/sounds.ts';
import { findFfmpeg } from '../ts/server/domains/media/index.ts';
import { startServer } from './server.ts';

const folder = t.testdir();
await addModel(folder);
const server = await startServer(t, { folder, env: { SVC_MEDIA_MAX_SECONDS: '30' } });
const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 });

/** Three seconds; the model hears whatever it is, since parts without speech are not left out. */
const bytes = wav(sine(440, 16_000, 3), 16_000);
const file = await toFile(bytes, 'sound.wav');
const TEXT = 'Zwei Wörter und mehr.';

async function addModel(to: string): Promise<void> {
  mkdirSync(join(to, 'models'), { recursive: true });
  const says = [0, ' Zwei', ' Wörter', 1, 1, ' und', ' mehr.', 2];
  await writeScriptedSpeechModel(join(to, 'models', 'scripted.bin'), { says, language: 2 });
}

/** The answer of the form as it is, whatever its status. */
async function send(fields: Record<string, string | Blob>, headers = {}) {
  const form = new FormData();
  for (const [name, value] of Object.entries({ file: new Blob([bytes]), vad: 'false', ...fields }))
    if (typeof value === 'string') form.append(name, value);
    else form.append(name, value, 'sound');
  const response = await fetch(`${server.url}/v1/audio/transcriptions`, { method: 'POST', body: form, headers });
  return { response, status: response.status, text: await response.text() };
}

async function codeOf(answer: ReturnType<typeof send>): Promise<string> {
  const { status, text } = await answer;
  const { error } = JSON.parse(text) as { error: { code: string } };
  return `${status} ${error.code}`;
}

const asked = { file, model: 'scripted', vad: false } as { file: typeof file; model: string };

t.test('the openai package gets each format', async (t) => {
  t.match(await client.audio.transcriptions.create(asked), { text: TEXT, usage: { type: 'duration', seconds: 3 } });
  t.equal(await client.audio.transcriptions.create({ ...asked, response_format: 'text' }), `${TEXT}\n`);
  t.match(
    await client.audio.transcriptions.create({ ...asked, response_format: 'srt' }),
    /^1\n00:00:00,000 --> 00:00:01,000\nZwei Wörter\n\n2\n/,
  );
  t.match(
    await client.audio.transcriptions.create({ ...asked, response_format: 'vtt' }),
    /^WEBVTT\n\n00:00:00\.000 --> 00:00:01\.000\nZwei/,
  );
  const verbose = await client.audio.transcriptions.create({
    ...asked,
    response_format: 'verbose_json',
    timestamp_granularities: ['word', 'segment'],
  });
  t.match(verbose, { task: 'transcribe', language: 'german', duration: 3, text: TEXT });
  t.match(verbose.segments, [
    { id: 0, start: 0, end: 1, text: ' Zwei Wörter' },
    { id: 1, start: 1, end: 2, text: ' und mehr.' },
  ]);
  t.strictSame(
    verbose.words?.map(({ word }) => word),
    ['Zwei', 'Wörter', 'und', 'mehr.'],
  );
  const { logprobs } = await client.audio.transcriptions.create({ ...asked, include: ['logprobs'] });
  t.equal(logprobs?.map(({ token }) => token).join(''), ` ${TEXT}`);
  t.strictSame(logprobs?.[1]?.bytes, [...Buffer.from(' Wörter')]);
});

t.test('a stream has the text as it comes, and all of it at its end', async (t) => {
  const events = [];
  for await (const event of await client.audio.transcriptions.create({ ...asked, stream: true })) events.push(event);
  t.match(events, [
    { type: 'transcript.text.delta', delta: ' Zwei Wörter' },
    { type: 'transcript.text.delta', delta: ' und mehr.' },
    { type: 'transcript.text.done', text: TEXT },
  ]);
});

t.test('a translation is told as one', async (t) => {
  const answer = await client.audio.translations.create({ ...asked, response_format: 'verbose_json' });
  t.match(answer, { task: 'translate', language: 'english', text: TEXT });
});

t.test('OpenAI’s names mean the default model, which the header tells', async (t) => {
  const { response } = await send({ model: 'whisper-1' });
  t.equal(response.headers.get('x-svc-model-substituted'), 'whisper-1 -> scripted');
  t.equal((await send({ model: 'scripted' })).response.headers.get('x-svc-model-substituted'), null);
  const { data } = (await (await fetch(`${server.url}/v1/models`)).json()) as { data: { id: string; capabilities: string[] }[] };
  t.strictSame(data.find(({ id }) => id === 'scripted')?.capabilities, ['transcription']);
});

t.test('parts without speech give no text', async (t) => {
  t.match(JSON.parse((await send({ vad: 'true' })).text), { text: '', usage: { seconds: 3 } });
});

t.test('refusals', async (t) => {
  const cases: [what: string, answer: ReturnType<typeof send>, code: string][] = [
    ['an unknown model', send({ model: 'nobody' }), '404 model_not_found'],
    ['an unknown language', send({ language: 'xx' }), '400 invalid_language'],
    ['an unknown format', send({ response_format: 'docx' }), '400 invalid_request'],
    ['an unknown field', send({ beam: '5' }), '400 invalid_request'],
    ['speakers', send({ response_format: 'diarized_json' }), '422 diarization_unavailable'],
    ['words in another format', send({ 'timestamp_granularities[]': 'word' }), '400 invalid_request'],
    ['subtitles as a stream', send({ response_format: 'srt', stream: 'true' }), '400 invalid_request'],
    ['a temperature', send({ temperature: '2' }), '400 invalid_request'],
    ['a text', send({ file: new Blob(['no sound at all']) }), '400 invalid_media'],
    ['a head alone', send({ file: new Blob([bytes.subarray(0, 44)]) }), '400 invalid_media'],
    ['a long one', send({ file: new Blob([wav(sine(440, 16_000, 40), 16_000)]) }), '422 media_too_long'],
    [
      'a long one as a stream',
      send({ file: new Blob([wav(sine(440, 16_000, 40), 16_000)]), stream: 'true' }),
      '422 media_too_long',
    ],
    ['no time', send({}, { 'x-request-timeout': '0.001' }), '504 deadline_exceeded'],
    ['no seconds', send({}, { 'x-request-timeout': 'soon' }), '400 invalid_request'],
  ];
  for (const [what, answer, code] of cases) t.equal(await codeOf(answer), code, what);
  const none = await fetch(`${server.url}/v1/audio/transcriptions`, { method: 'POST', body: new FormData() });
  t.equal(none.status, 400);
  t.strictSame(readdirSync(join(folder, 'data', 'cache', 'media')), [], 'no recording stays on the disk');
});

const noFfmpeg = findFfmpeg() === undefined && 'ffmpeg is not installed';

t.test('what is neither WAV nor MP3 is decoded by ffmpeg', { skip: noFfmpeg }, async (t) => {
  const original = join(folder, 'sound.wav');
  writeFileSync(original, bytes);
  for (const [name, ...options] of [
    ['sound.flac'],
    ['sound.ogg'],
    ['sound.m4a'],
    ['sound.webm', '-c:a', 'libopus'],
    ['sound.aiff'],
    ['sound.aac'],
  ] as const) {
    const made = join(folder, name);
    execFileSync('ffmpeg', ['-y', '-loglevel', 'error', '-i', original, ...options, made]);
    const { status, text } = await send({ file: new Blob([readFileSync(made)]) });
    t.equal(status, 200, `${name}: ${text}`);
    t.equal((JSON.parse(text) as { text: string }).text, TEXT, name);
  }
  const mute = join(folder, 'mute.mp4');
  execFileSync('ffmpeg', ['-y', '-loglevel', 'error', '-f', 'lavfi', '-i', 'color=red:s=64x64:d=1', '-c:v', 'mpeg4', mute]);
  t.equal(await codeOf(send({ file: new Blob([readFileSync(mute)]) })), '400 no_audio_track');
});

t.test('svc transcribe', async (t) => {
  const path = join(folder, 'spoken.wav');
  writeFileSync(path, bytes);
  const { code, stdout } = await runCli(['transcribe', path, '--json', '--url', server.url]);
  t.equal(code, 0);
  t.match(JSON.parse(stdout), { text: '', usage: { seconds: 3 } });
  const missing = await runCli(['transcribe', join(folder, 'nowhere.wav'), '--url', server.url]);
  t.match(missing, { code: 2, stderr: /cannot be read/ });
});

t.test('svc eval stt', async (t) => {
  const recordings = join(t.testdir({}), 'recordings');
  mkdirSync(recordings);
  const said = { 'right.txt': 'zwei Wörter, und mehr', 'wrong.txt': 'Zwei andere Wörter und' };
  for (const [name, text] of Object.entries(said)) writeFileSync(join(recordings, name), text);
  const speech = join(recordings, 'untold.wav');
  try {
    execFileSync('espeak-ng', ['-w', speech, 'This is somebody who speaks.']);
  } catch {
    return t.comment('espeak-ng is not installed');
  }
  for (const name of ['right', 'wrong']) copyFileSync(speech, join(recordings, `${name}.wav`));
  const { code, stdout } = await runCli(['eval', 'stt', recordings, '--parallel', '2', '--json', '--url', server.url]);
  t.equal(code, 0);
  t.match(JSON.parse(stdout), {
    recordings: 2,
    words: 8,
    errors: 2,
    wer: 0.25,
    without_text: ['untold.wav'],
    worst: [{ file: 'wrong.wav', wer: 0.5, heard: TEXT }],
  });
  t.match(await runCli(['eval', 'stt', t.testdir({}), '--url', server.url]), { code: 2, stderr: /no recording with its text/ });
});

t.test('without ffmpeg the answer says so, with the command that installs it', async (t) => {
  const own = t.testdir({});
  await addModel(own);
  const bare = await startServer(t, { folder: own, env: { PATH: '/nowhere' } });
  const form = new FormData();
  form.append('file', new Blob([Buffer.from('fLaC\0\0\0\x22')]), 'sound.flac');
  const response = await fetch(`${bare.url}/v1/audio/transcriptions`, { method: 'POST', body: form });
  t.equal(response.status, 503);
  t.match(await response.json(), { error: { code: 'ffmpeg_missing', message: /nstall/ } });
});

t.test('without a speech model the answer says how to get one', async (t) => {
  const bare = await startServer(t, { folder: t.testdir({}) });
  const form = new FormData();
  form.append('file', new Blob([bytes]), 'sound.wav');
  const response = await fetch(`${bare.url}/v1/audio/transcriptions`, { method: 'POST', body: form });
  t.equal(response.status, 503);
  t.match(await response.json(), { error: { code: 'no_speech_model', message: /svc models pull whisper-base/ } });
});

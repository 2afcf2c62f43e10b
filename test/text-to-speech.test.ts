/** Texts are read aloud over HTTP: every format, streams, events, voices, speeds, refusals, and what the engines are never told. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import OpenAI from 'openai';
import t from 'tap';
import { runCli } from '../ts/cli/run-cli.ts';
import { findFfmpeg } from '../ts/server/domains/media/index.ts';
import { startServer } from './server.ts';

const folder = t.testdir({});
const voicesDir = join(folder, 'voices');
mkdirSync(voicesDir);
writeFileSync(
  join(voicesDir, 'berta.json'),
  JSON.stringify({ engine: 'espeak-ng', model: 'de+f3', language: 'de', name: 'Berta' }),
);
const server = await startServer(t, {
  folder,
  env: { SVC_MEDIA_VOICES_DIR: voicesDir, SVC_MEDIA_MAX_SYNTHESIS_CHARACTERS: '5000' },
});
const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 });

interface ListedVoice {
  id: string;
  name: string;
  language: string;
  engine: string;
  sample_rate: number;
  license: string;
  is_default: boolean;
}

const list = (await (await fetch(`${server.url}/api/v1/tts/voices`)).json()) as {
  voices: ListedVoice[];
  models_dir: string;
  note: string;
};
const engines = new Set(list.voices.map(({ engine }) => engine));
const noEspeak = !engines.has('espeak-ng') && 'espeak-ng is not installed';
const noFlite = !engines.has('flite') && 'libflite1 is not installed';
const noVoice = list.voices.length === 0 && 'no engine of voices is installed';
const noFfmpeg = findFfmpeg() === undefined && 'ffmpeg is not installed';

async function say(body: object, headers = {}, path = '/api/v1/tts/synthesize') {
  const init = { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } };
  const response = await fetch(`${server.url}${path}`, init);
  const bytes = Buffer.from(await response.arrayBuffer());
  return {
    status: response.status,
    headers: response.headers,
    bytes,
    error: response.ok ? '' : (JSON.parse(bytes.toString()) as { error: string }).error,
  };
}

/** Seconds of a spoken text, by its raw samples. */
async function secondsOf(body: object): Promise<number> {
  const { status, bytes, error } = await say({ format: 'pcm', ...body });
  if (status !== 200) throw new Error(`${status} ${error}`);
  return bytes.length / 2 / 24_000;
}

function probedSeconds(name: string, bytes: Uint8Array): number {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  const shown = execFileSync('ffprobe', ['-v', 'error', '-show_entries', 'format=duration', '-of', 'csv=p=0', path], {
    encoding: 'utf8',
  });
  return Number(shown);
}

const TEXT = 'The quick brown fox jumps over the lazy dog. Then it sleeps, and nobody wakes it.';

t.test('the list of voices has their engines, licenses and one default', { skip: noVoice }, async (t) => {
  t.equal(list.models_dir, voicesDir);
  t.match(list.note, /folder/);
  t.equal(list.voices.filter((voice) => voice.is_default).length, 1);
  for (const voice of list.voices)
    t.match(voice, { id: /./, name: /./, language: /^[a-z]/, sample_rate: Number, license: /./ }, voice.id);
  const { voices } = (await (await fetch(`${server.url}/v1/audio/voices`)).json()) as { voices: object[] };
  t.equal(voices.length, list.voices.length);
  const { models } = (await (await fetch(`${server.url}/v1/audio/models`)).json()) as { models: { id: string }[] };
  t.strictSame(new Set(models.map(({ id }) => id)), engines);
});

t.test('every format has the duration of the speech, streamed or not', { skip: noVoice || noFfmpeg }, async (t) => {
  const seconds = await secondsOf({ text: TEXT });
  t.ok(seconds > 3 && seconds < 12, `${seconds} s`);
  for (const format of ['wav', 'mp3', 'opus', 'flac', 'aac'])
    for (const stream of [undefined, 'audio']) {
      const { status, bytes, headers } = await say({ text: TEXT, format, stream });
      t.equal(status, 200);
      t.match(headers.get('content-type'), /^audio\//);
      t.equal(headers.has('content-length'), stream === undefined, `${format} ${stream}`);
      const probed = probedSeconds(`speech-${stream}.${format}`, bytes);
      // AAC says it nowhere: ffprobe goes by its rate.
      t.ok(
        Math.abs(probed - seconds) < (format === 'aac' ? 0.3 : 0.15),
        `${format} ${stream ?? 'whole'}: ${probed} of ${seconds} s`,
      );
    }
});

t.test('events hold the parts of the file, and tell its use at the end', { skip: noVoice }, async (t) => {
  const { headers, bytes } = await say({ text: TEXT, format: 'wav', stream: 'sse' });
  t.match(headers.get('content-type'), 'text/event-stream');
  const events = [...bytes.toString().matchAll(/^data: (.+)$/gm)].map(
    ([, data = '']) => JSON.parse(data) as Record<string, unknown>,
  );
  const audio = Buffer.concat(
    events.filter(({ type }) => type === 'speech.audio.delta').map((event) => Buffer.from(String(event['audio']), 'base64')),
  );
  t.equal(audio.toString('latin1', 0, 4), 'RIFF');
  const seconds = (audio.length - 44) / 2 / 24_000;
  t.match(events.at(-1), { type: 'speech.audio.done', usage: { characters: TEXT.length, seconds } });
});

t.test('the openai package speaks, whole and as events', { skip: noVoice || noFfmpeg }, async (t) => {
  const asked = { input: TEXT, model: 'tts-1', voice: 'alloy' } as const;
  const response = await client.audio.speech.create(asked);
  t.match(response.headers.get('x-svc-voice-substituted'), /^alloy -> /);
  t.equal(response.headers.get('content-type'), 'audio/mpeg');
  t.ok((await response.arrayBuffer()).byteLength > 10_000);
  const events = await client.audio.speech.create({ ...asked, response_format: 'pcm', stream_format: 'sse' });
  t.match(await events.text(), /"type":"speech\.audio\.delta".*"type":"speech\.audio\.done"/s);
  await t.rejects(client.audio.speech.create({ ...asked, voice: 'nobody' }), { status: 404, code: 'voice_not_found' });
  await t.rejects(client.audio.speech.create({ ...asked, model: 'nobody' }), { status: 404, code: 'model_not_found' });
  await t.rejects(client.audio.speech.create({ ...asked, input: 'x'.repeat(4_097) }), { status: 400, code: 'invalid_request' });
});

t.test('a speed makes speech as much shorter or longer', { skip: noVoice }, async (t) => {
  for (const voice of [...(noFlite ? [] : ['flite-slt']), ...(noEspeak ? [] : ['espeak-en-us'])]) {
    const whole = await secondsOf({ text: TEXT, voice });
    for (const speed of [0.25, 0.5, 2, 4]) {
      const seconds = await secondsOf({ text: TEXT, voice, speed });
      const factor = whole / seconds / speed;
      t.ok(factor > 0.6 && factor < 1.6, `${voice} at ${speed}: ${seconds} s in place of ${whole}`);
    }
  }
});

t.test('a voice speaks its language, and a described one is one of its engine', { skip: noEspeak }, async (t) => {
  t.match(
    list.voices.find(({ id }) => id === 'berta'),
    { name: 'Berta', language: 'de', engine: 'espeak-ng', license: 'GPL-3.0-or-later' },
  );
  t.ok((await secondsOf({ text: 'Guten Tag, wie geht es Ihnen?', voice: 'berta' })) > 0.8);
  t.ok((await secondsOf({ text: 'Bonjour tout le monde.', language: 'fr' })) > 0.5);
  t.match(await say({ text: 'Hello', language: 'xx' }), { status: 422, error: 'no_voice_for_language' });
});

t.test('text is text: no phonemes, no SSML, no options', { skip: noEspeak }, async (t) => {
  const voice = 'espeak-en-us';
  // As phonemes it is one short word; read as text it has names of letters and of brackets, or at least each of its words.
  const spelt = "before [[h@l'oU w'3:ld h@l'oU]] after";
  const seconds = await secondsOf({ text: spelt, voice });
  const bare = await secondsOf({ text: "before [ [h@l'oU w'3:ld h@l'oU]] after", voice });
  t.ok(Math.abs(seconds - bare) < 0.05, `${seconds} and ${bare} s`);
  const marked = await secondsOf({ text: '<speak><break time="10s"/>Hello</speak>', voice });
  t.ok(marked < 8, `a break of ten seconds is not one: ${marked} s`);
  const option = await secondsOf({ text: '--version -w /tmp/stolen.wav --stdout', voice });
  t.ok(option > 1, 'words that look like options are spoken');
});

t.test('refusals', async (t) => {
  const cases: [what: string, body: object, status: number, error: string, headers?: Record<string, string>][] = [
    ['no text', {}, 400, 'invalid_request'],
    ['an empty text', { text: '' }, 400, 'invalid_request'],
    ['a text that nobody can say', { text: ' … ' }, 400, 'invalid_request'],
    ['a long text', { text: 'x'.repeat(5_001) }, 400, 'invalid_request'],
    ['a speed', { text: 'Hello', speed: 5 }, 400, 'invalid_request'],
    ['a format', { text: 'Hello', format: 'midi' }, 400, 'invalid_request'],
    ['a sample', { text: 'Hello', speaker: 'aGVsbG8=' }, 400, 'invalid_request'],
    ['a voice that is a path', { text: 'Hello', voice: '../berta' }, 400, 'invalid_request'],
    ...(noVoice
      ? []
      : ([
          ['an unknown voice', { text: 'Hello', voice: 'nobody' }, 404, 'voice_not_found'],
          ['no time', { text: 'Hello '.repeat(500) }, 504, 'deadline_exceeded', { 'x-request-timeout': '0.001' }],
        ] as [string, object, number, string, Record<string, string>?][])),
  ];
  for (const [what, body, status, error, headers] of cases) t.match(await say(body, headers), { status, error }, what);
  t.strictSame(
    readdirSync(join(folder, 'data', 'cache')).includes('media') ? readdirSync(join(folder, 'data', 'cache', 'media')) : [],
    [],
  );
});

t.test('a client that goes away ends the engine, and others speak on', { skip: noEspeak }, async (t) => {
  const over = new AbortController();
  const response = await fetch(`${server.url}/api/v1/tts/synthesize`, {
    method: 'POST',
    body: JSON.stringify({ text: 'This goes on and on. '.repeat(200), voice: 'espeak-en-us', format: 'pcm', stream: 'audio' }),
    headers: { 'content-type': 'application/json' },
    signal: over.signal,
  });
  const reader = response.body?.getReader();
  t.ok(((await reader?.read())?.value?.length ?? 0) > 0, 'the first samples are there long before the last');
  over.abort();
  t.ok((await secondsOf({ text: 'Hello again.', voice: 'espeak-en-us' })) > 0.3);
});

t.test('use is counted in characters', { skip: noVoice }, async (t) => {
  const { data } = (await (await fetch(`${server.url}/api/v1/metering/usage?by=model`)).json()) as {
    data: { id: string; characters: number }[];
  };
  t.ok(data.some(({ id, characters }) => engines.has(id) && characters > TEXT.length));
  t.match(await (await fetch(`${server.url}/metrics`)).text(), /svc_media_jobs_total\{kind="speech"\} \d+/);
});

t.test('svc voices and svc speak', { skip: noVoice }, async (t) => {
  const shown = await runCli(['voices', '--url', server.url]);
  t.equal(shown.code, 0);
  t.match(shown.stdout, /LANGUAGE/);
  const out = join(folder, 'said.wav');
  t.match(await runCli(['speak', 'Hello there.', '--out', out, '--url', server.url]), { code: 0 });
  t.equal(readFileSync(out).toString('latin1', 0, 4), 'RIFF');
  t.match(await runCli(['speak', 'Hello there.', '--out', join(folder, 'x.midi'), '--url', server.url]), { code: 2 });
});

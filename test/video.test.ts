/** Films over HTTP: frames with their true times, as JSON and as ZIP files, and what a model that sees says of them. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import t from 'tap';
import { runCli } from '../ts/cli/run-cli.ts';
import { findFfmpeg } from '../ts/server/domains/media/index.ts';
import { startServer } from './server.ts';

if (findFfmpeg() === undefined) {
  t.plan(0, 'ffmpeg is not installed');
  process.exit();
}

const folder = t.testdir({});
const server = await startServer(t, {
  folder,
  models: { seeing: { arch: 'llama' }, blind: { arch: 'llama' } },
  hasProjector: true,
});

function make(name: string, ...args: string[]): Buffer {
  const path = join(folder, name);
  execFileSync('ffmpeg', ['-y', '-loglevel', 'error', ...args, path]);
  return readFileSync(path);
}

const colour = (name: string, rate: number) => ['-f', 'lavfi', '-i', `color=${name}:s=160x120:r=${rate}:d=2`];
const joined = ['-filter_complex', '[0:v][1:v][2:v]concat=n=3:v=1', '-c:v', 'mpeg4', '-q:v', '2'];
/** Two seconds each of red, green and blue. */
const film = make('film.mp4', ...colour('red', 10), ...colour('lime', 10), ...colour('blue', 10), ...joined);

interface Frames {
  duration: number;
  width: number;
  height: number;
  frames: { time: number; width: number; height: number; media_type: string; data: string }[];
}

/** Bytes of a buffer, whose memory is its own. */
const blobOf = (bytes: Buffer) => new Blob([new Uint8Array(bytes)]);

async function send(path: string, fields: Record<string, string | Blob | string[]>, headers = {}) {
  const form = new FormData();
  for (const [name, value] of Object.entries({ file: blobOf(film), ...fields }))
    if (value instanceof Blob) form.append(name, value, 'film');
    else for (const each of [value].flat()) form.append(name, each);
  const response = await fetch(`${server.url}${path}`, { method: 'POST', body: form, headers });
  const bytes = Buffer.from(await response.arrayBuffer());
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return {
    status: response.status,
    bytes,
    body: (isJson ? JSON.parse(bytes.toString()) : {}) as Frames & Record<string, unknown>,
  };
}

const extract = (fields: Record<string, string | Blob | string[]>, headers = {}) =>
  send('/api/v1/video/extract-frames', fields, headers);
const timesOf = ({ body }: { body: Frames }) => body.frames.map(({ time }) => time);

/** The strongest of red, green and blue in the middle of a frame. */
async function colourOf(data: string): Promise<string> {
  const { data: pixels, info } = await sharp(Buffer.from(data, 'base64')).raw().toBuffer({ resolveWithObject: true });
  const at = (Math.floor(info.height / 2) * info.width + Math.floor(info.width / 2)) * info.channels;
  const [red = 0, green = 0, blue = 0] = pixels.subarray(at, at + 3);
  return red > green && red > blue ? 'red' : green > blue ? 'green' : 'blue';
}

t.test('frames by times, interval, count and scene', async (t) => {
  const byTimes = await extract({ times: ['0', '2.5', '5.95'] });
  t.match(byTimes, { status: 200, body: { width: 160, height: 120 } });
  t.ok(Math.abs(byTimes.body.duration - 6) < 0.15);
  t.strictSame(await Promise.all(byTimes.body.frames.map(({ data }) => colourOf(data))), ['red', 'green', 'blue']);
  t.strictSame(timesOf(byTimes).slice(0, 2), [0, 2.5]);
  t.ok(Math.abs((timesOf(byTimes)[2] ?? 0) - 5.9) < 0.11, 'within the last frame it is that one');
  t.strictSame(timesOf(await extract({ times: '1,3' })), [1, 3]);
  t.strictSame(timesOf(await extract({ every_seconds: '2' })), [0, 2, 4]);
  t.strictSame(timesOf(await extract({ count: '3' })), [1, 3, 5]);
  t.strictSame(timesOf(await extract({ scene: '0.2' })), [0, 2, 4]);
});

t.test('times are true where the rate varies', async (t) => {
  const slow = `${joined[1]},select=not(between(t\\,2\\,4)*mod(n\\,5))`;
  const varied = make(
    'varied.mp4',
    ...colour('red', 10),
    ...colour('lime', 10),
    ...colour('blue', 10),
    '-filter_complex',
    slow,
    ...joined.slice(2),
    '-fps_mode',
    'vfr',
  );
  const { body } = await extract({ file: blobOf(varied), times: ['2.7', '4.05'] });
  const probed = execFileSync(
    'ffprobe',
    ['-v', 'error', '-select_streams', 'v:0', '-show_entries', 'frame=pts_time', '-of', 'csv=p=0', join(folder, 'varied.mp4')],
    { encoding: 'utf8' },
  );
  const all = probed
    .split('\n')
    .map((line) => Number.parseFloat(line))
    .filter((time) => !Number.isNaN(time));
  for (const [i, asked] of [2.7, 4.05].entries()) {
    const next = all.find((time) => time >= asked - 0.0005) ?? 0;
    t.ok(Math.abs((body.frames[i]?.time ?? 0) - next) < 0.001, `${body.frames[i]?.time}, and the film has ${next}`);
  }
});

t.test('frames have the width and format that are asked for', async (t) => {
  for (const format of ['jpeg', 'png', 'webp']) {
    const { body } = await extract({ count: '1', width: '80', format });
    t.match(body.frames, [{ width: 80, height: 60, media_type: `image/${format}` }]);
    const { width, format: found } = await sharp(Buffer.from(body.frames[0]?.data ?? '', 'base64')).metadata();
    t.strictSame([width, found], [80, format]);
  }
});

t.test('a ZIP file of frames opens', async (t) => {
  const { bytes } = await extract({ count: '3' }, { accept: 'application/zip' });
  writeFileSync(join(folder, 'frames.zip'), bytes);
  const listed = execFileSync(
    'python3',
    [
      '-c',
      'import sys,zipfile; z=zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; print("\\n".join(z.namelist()))',
      join(folder, 'frames.zip'),
    ],
    { encoding: 'utf8' },
  );
  t.strictSame(listed.trim().split('\n'), ['frame-01-1.000s.jpg', 'frame-02-3.000s.jpg', 'frame-03-5.000s.jpg']);
});

t.test('refusals', async (t) => {
  const mute = make('sound.wav', '-f', 'lavfi', '-i', 'sine=d=1');
  const cases: [what: string, fields: Record<string, string | Blob | string[]>, status: number, error: string][] = [
    ['a text', { file: new Blob(['no film at all']) }, 400, 'invalid_media'],
    ['a cut film', { file: blobOf(film.subarray(0, 2_000)) }, 400, 'invalid_media'],
    ['a recording', { file: blobOf(mute) }, 400, 'no_video_track'],
    ['a time behind the end', { times: '7' }, 400, 'invalid_request'],
    ['two ways', { times: '1', count: '2' }, 400, 'invalid_request'],
    ['too many', { count: '65' }, 400, 'invalid_request'],
    ['too many by an interval', { every_seconds: '0.05' }, 400, 'invalid_request'],
    ['a format', { format: 'gif' }, 400, 'invalid_request'],
    ['an unknown field', { frames: '2' }, 400, 'invalid_request'],
  ];
  for (const [what, fields, status, error] of cases) t.match(await extract(fields), { status, body: { error } }, what);
  t.match(await extract({}, { 'x-request-timeout': '0.001' }), { status: 504, body: { error: 'deadline_exceeded' } });
  t.strictSame(readdirSync(join(folder, 'data', 'cache', 'media')), [], 'no film stays on the disk');
});

t.test('a model that sees is asked, and one that does not is refused', async (t) => {
  const path = '/api/v1/media/video/analyze';
  const answer = await send(path, { prompt: 'Which colours?', count: '2', width: '64' });
  if (answer.status !== 200) t.comment(answer.bytes.toString());
  t.match(answer, {
    status: 200,
    body: {
      model: 'seeing',
      frames: [
        { n: 1, time: 1.5, width: 64 },
        { n: 2, time: 4.5 },
      ],
      transcript: null,
      citations: [],
    },
  });
  t.type(answer.body['text'], 'string');
  t.match(await send(path, { model: 'blind', count: '1' }), { status: 422, body: { error: 'model_cannot_see' } });
  t.match(await send(path, { model: 'nobody', count: '1' }), { status: 200, body: { model: 'seeing' } }, 'as in a chat');
  const spoken = make('spoken.mp4', ...colour('red', 10), '-f', 'lavfi', '-i', 'sine=d=2', '-c:v', 'mpeg4', '-c:a', 'aac');
  const withSound = blobOf(spoken);
  t.match(await send(path, { file: withSound, count: '1', width: '64' }), { status: 200, body: { transcript: null } });
  t.match(await send(path, { file: withSound, count: '1', transcript: 'true' }), {
    status: 503,
    body: { error: 'no_speech_model' },
  });
});

t.test('svc video frames', async (t) => {
  const out = join(folder, 'out');
  mkdirSync(out);
  t.match(await runCli(['video', 'frames', join(folder, 'film.mp4'), '--count', '2', '--out', out, '--url', server.url]), {
    code: 0,
  });
  t.strictSame(readdirSync(out), ['frame-01-1.500s.jpg', 'frame-02-4.500s.jpg']);
  t.match(await runCli(['video', 'analyze', join(folder, 'nowhere.mp4'), '--url', server.url]), {
    code: 2,
    stderr: /cannot be read/,
  });
});

/** `svc video frames` and `svc video analyze`: films become images, and answers about them. */
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Answer } from '../../client/client.ts';
import { serverCommand } from '../server-command.ts';
import { fileAt } from './transcribe.ts';

const choices = {
  times: { kind: 'text', value: 'SECONDS', help: 'times of frames, with commas' },
  every: { kind: 'text', value: 'SECONDS', help: 'a frame each so many seconds' },
  count: { kind: 'integer', value: 'N', min: 1, max: 64, help: 'so many frames, spread over the film (default 8)' },
  scene: { kind: 'text', value: 'SHARE', help: 'a frame where the picture changes by more than this, as 0.3' },
  width: { kind: 'integer', value: 'PIXELS', min: 16, max: 3840, help: 'width of the frames' },
} as const;

interface Chosen {
  times?: string | undefined;
  every?: string | undefined;
  count?: number | undefined;
  scene?: string | undefined;
  width?: number | undefined;
}

export const frames = serverCommand({
  words: ['video', 'frames'],
  summary: 'Take frames out of a film',
  positionals: [{ name: 'FILE', help: 'MP4, WebM, AVI or what ffmpeg on the server decodes' }],
  options: {
    out: { kind: 'text', value: 'DIR', help: 'where the images go (default: the current folder)', aliases: ['-o'] },
    ...choices,
    format: { kind: 'choice', choices: ['jpeg', 'png', 'webp'], help: 'of the images; jpeg by default' },
  },
  examples: ['svc video frames film.mp4 --count 4 --out frames', 'svc video frames film.mp4 --times 0,12.5 --format png'],
  async run({ options: { out = '.', format, ...chosen }, positionals: [path = ''], client, terminal }) {
    const form = await formOf(path, chosen, { format });
    const response = await client.request('POST /api/v1/video/extract-frames', { body: form as never });
    const { frames: found } = (await response.json()) as Answer<'POST /api/v1/video/extract-frames'>;
    await mkdir(out, { recursive: true });
    const ending = format === undefined || format === 'jpeg' ? 'jpg' : format;
    const written: { time: number; file: string }[] = [];
    for (const [i, { time, data }] of found.entries()) {
      const file = join(out, `frame-${String(i + 1).padStart(2, '0')}-${time.toFixed(3)}s.${ending}`);
      await writeFile(file, Buffer.from(data, 'base64'));
      written.push({ time, file });
    }
    terminal.result(written, written.map(({ file }) => file).join('\n'));
    return 'ok';
  },
});

export const analyze = serverCommand({
  words: ['video', 'analyze'],
  summary: 'Ask a model that sees about a film',
  positionals: [{ name: 'FILE', help: 'MP4, WebM, AVI or what ffmpeg on the server decodes' }],
  options: {
    prompt: { kind: 'text', value: 'TEXT', help: 'what is asked (default: what happens in it)', aliases: ['-p'] },
    model: { kind: 'text', value: 'NAME', help: 'a chat model that sees', aliases: ['-m'] },
    language: { kind: 'text', value: 'CODE', help: 'language that is spoken' },
    'no-transcript': { kind: 'flag', help: 'leave out what is spoken' },
    ...choices,
  },
  examples: ['svc video analyze film.mp4 --prompt "Who opens the door?"'],
  async run({ options, positionals: [path = ''], client, terminal }) {
    const { prompt, model, language, 'no-transcript': isSilent, ...chosen } = options;
    const form = await formOf(path, chosen, { prompt, model, language, transcript: isSilent ? 'false' : undefined });
    const response = await client.request('POST /api/v1/media/video/analyze', { body: form as never });
    const answer = (await response.json()) as Answer<'POST /api/v1/media/video/analyze'>;
    const cited = answer.citations.map(
      ({ n, kind, start_seconds: from, end_seconds: to }) => `[${n}] ${kind} ${from} to ${to} s`,
    );
    terminal.result(answer, [answer.text, ...cited].join('\n'));
    return 'ok';
  },
});

async function formOf(
  path: string,
  { times, every, count, scene, width }: Chosen,
  more: Record<string, string | undefined>,
): Promise<FormData> {
  const form = new FormData();
  form.append('file', await fileAt(path), basename(path));
  const fields = { times, every_seconds: every, count, scene, width, ...more };
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) form.append(name, String(value));
  return form;
}

/** `svc speak` and `svc voices`: texts become speech. */
import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { usageError } from '../cli-error.ts';
import { listCommand, serverCommand } from '../server-command.ts';

const FORMATS = ['wav', 'mp3', 'opus', 'flac', 'aac', 'pcm'] as const;

export const speak = serverCommand({
  words: ['speak'],
  summary: 'Read a text aloud into a file',
  positionals: [{ name: 'TEXT', help: 'what is said; else the file of --file', optional: true }],
  options: {
    out: {
      kind: 'text',
      value: 'FILE',
      help: `where the speech goes; its ending is the format: ${FORMATS.join(', ')}`,
      aliases: ['-o'],
    },
    file: { kind: 'text', value: 'FILE', help: 'text to read, in place of TEXT', aliases: ['-f'] },
    voice: { kind: 'text', value: 'ID', help: 'one of `svc voices` (else the server’s default)' },
    language: { kind: 'text', value: 'CODE', help: 'language, which chooses a voice' },
    speed: { kind: 'text', value: 'FACTOR', help: '0.25 to 4; 1 by default' },
  },
  examples: ['svc speak "Good morning." --out morning.wav', 'svc speak --file chapter.txt --voice espeak-de --out chapter.mp3'],
  async run({ options, positionals: [given], client, terminal }) {
    const { out, file, voice, language } = options;
    if (out === undefined) throw usageError('--out is missing', 'name the file that the speech goes to');
    const format = FORMATS.find((each) => each === extname(out).slice(1).toLowerCase());
    if (format === undefined) throw usageError(`${out} has no ending of a format`, `end it in one of ${FORMATS.join(', ')}`);
    const text = given ?? (file === undefined ? undefined : await textAt(file));
    if (text === undefined) throw usageError('there is no text', 'give one, or name its file with --file');
    const speed = options.speed === undefined ? undefined : Number(options.speed);
    if (Number.isNaN(speed)) throw usageError(`${options.speed} is no number`, 'give a speed from 0.25 to 4');
    const body = { text, voice, language, speed, format, stream: 'audio' as const };
    const response = await client.request('POST /api/v1/tts/synthesize', { body });
    await pipeline(Readable.fromWeb(response.body as ReadableStream), createWriteStream(out));
    terminal.result({ file: out }, `The speech is in ${out}.`);
    return 'ok';
  },
});

async function textAt(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    throw usageError(`${path} cannot be read`, 'name a file that is there');
  }
}

export const voices = listCommand({
  words: ['voices'],
  summary: 'List the voices of the server',
  examples: ['svc voices'],
  route: 'GET /api/v1/tts/voices',
  columns: {
    ID: ({ id }) => id,
    NAME: ({ name }) => name,
    LANGUAGE: ({ language }) => language,
    ENGINE: ({ engine }) => engine,
    LICENSE: ({ license }) => license,
    DEFAULT: (voice) => (voice.is_default ? 'yes' : null),
  },
  empty: 'There is no voice: install espeak-ng, or libflite1 for English.',
});

import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { usageError } from '../cli-error.ts';
import { serverCommand } from '../server-command.ts';

const FORMATS = ['text', 'srt', 'vtt', 'json', 'verbose_json'] as const;

export const transcribe = serverCommand({
  words: ['transcribe'],
  summary: 'Turn a recording into text or subtitles',
  positionals: [{ name: 'FILE', help: 'WAV, MP3, or what ffmpeg on the server decodes' }],
  options: {
    model: { kind: 'text', value: 'NAME', help: 'speech model (else the server’s default)', aliases: ['-m'] },
    language: { kind: 'text', value: 'CODE', help: 'language that is spoken, as de or en (else the model finds out)' },
    format: { kind: 'text', value: 'FORMAT', help: `${FORMATS.join(', ')}; text by default` },
    prompt: { kind: 'text', value: 'TEXT', help: 'words that are likely in the recording' },
    translate: { kind: 'flag', help: 'write English, whatever is spoken' },
  },
  examples: [
    'svc transcribe meeting.mp3',
    'svc transcribe film.mp4 --format srt > film.srt',
    'svc transcribe rede.wav --translate',
  ],
  async run({ options, positionals: [path = ''], client, terminal }) {
    const { model, language, prompt, translate } = options;
    const format = FORMATS.find((each) => each === (options.format ?? 'text'));
    if (format === undefined)
      throw usageError(`there is no format ${JSON.stringify(options.format)}`, `use one of ${FORMATS.join(', ')}`);
    const form = new FormData();
    form.append('file', await fileAt(path), basename(path));
    const fields = { model, language, prompt, response_format: terminal.json && format === 'text' ? 'json' : format };
    for (const [name, value] of Object.entries(fields)) if (value !== undefined) form.append(name, value);
    const response = await client.request(translate ? 'POST /v1/audio/translations' : 'POST /v1/audio/transcriptions', {
      body: form as never,
    });
    const answer = await response.text();
    terminal.result(isJson(response) ? JSON.parse(answer) : { text: answer }, answer.trimEnd());
    return 'ok';
  },
});

/** The bytes of a file, read as they are sent. */
export async function fileAt(path: string): Promise<Blob> {
  try {
    return await openAsBlob(path);
  } catch {
    throw usageError(`${path} cannot be read`, 'name a file that is there');
  }
}

function isJson({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('application/json') === true;
}

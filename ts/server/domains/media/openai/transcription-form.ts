/** The form of a transcription, as OpenAI's clients send it. Its fields may come behind the file, so the bytes are on disk before all is known. */
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { MultipartBody } from '../../../platform/http/body/multipart.ts';
import { mediaError } from '../errors.ts';

export const RESPONSE_FORMATS = ['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json'] as const;
type ResponseFormat = (typeof RESPONSE_FORMATS)[number];

export interface TranscriptionForm {
  /** The path of the stored recording. */
  path: string;
  model: string;
  language: string | undefined;
  prompt: string | undefined;
  temperature: number;
  format: ResponseFormat;
  hasWords: boolean;
  hasSegments: boolean;
  hasLogprobs: boolean;
  isStreamed: boolean;
  skipsSilence: boolean;
}

/** Fields that say nothing to the models of this node, and whose default is what they do. */
const IDLE = ['chunking_strategy', 'chunking_strategy[type]', 'user'];
const MOST_PROMPT_BYTES = 4_096;

/**
 * Stores the file in `folder` and tells of its path before anything of it is written, so that the caller can remove it whatever happens. Throws
 * invalid_request and invalid_language, storage_unavailable, and what reading the form throws.
 */
export async function readTranscriptionForm(
  body: MultipartBody,
  folder: string,
  isLanguage: (code: string) => boolean,
  onPath: (path: string) => void,
): Promise<TranscriptionForm> {
  const fields = new Map<string, string[]>();
  let path: string | undefined;
  for await (const part of body) {
    if (part.kind === 'field') {
      fields.set(part.name, [...(fields.get(part.name) ?? []), part.value]);
      continue;
    }
    if (part.name !== 'file') throw wrong(part.name, 'The recording has to be the part `file` of the form.');
    path = join(folder, randomUUID());
    onPath(path);
    await store(part.content, folder, path);
  }
  if (path === undefined) throw wrong('file', 'The form has no file.');
  return { path, ...readFields(fields, isLanguage) };
}

async function store(content: AsyncIterable<Uint8Array>, folder: string, path: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    await pipeline(content, createWriteStream(path, { mode: 0o600 }));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (!/^(ENOSPC|EDQUOT|EACCES|EROFS|EIO)$/.test(code)) throw error;
    throw mediaError('storage_unavailable', 'The recording cannot be stored for as long as it is decoded.', { cause: error });
  }
}

function readFields(
  fields: ReadonlyMap<string, string[]>,
  isLanguage: (code: string) => boolean,
): Omit<TranscriptionForm, 'path'> {
  const known = ['model', 'language', 'prompt', 'temperature', 'response_format', 'stream', 'vad', ...LISTS, ...IDLE];
  for (const name of fields.keys()) if (!known.includes(name)) throw wrong(name, `${name} is no field of this form.`);
  const one = (name: string) => fields.get(name)?.at(-1);
  const language = one('language')?.toLowerCase() || undefined;
  if (language !== undefined && !isLanguage(language))
    throw mediaError('invalid_language', `Speech models know no language ${JSON.stringify(language)}.`, { param: 'language' });
  const prompt = one('prompt') || undefined;
  if (prompt !== undefined && Buffer.byteLength(prompt) > MOST_PROMPT_BYTES)
    throw wrong('prompt', `prompt has at most ${MOST_PROMPT_BYTES} bytes.`);
  const format = choice('response_format', one('response_format') ?? 'json', RESPONSE_FORMATS);
  const granularities = list(fields, 'timestamp_granularities', ['word', 'segment']);
  if (granularities.length > 0 && format !== 'verbose_json')
    throw wrong('timestamp_granularities', 'timestamp_granularities needs response_format verbose_json.');
  const hasLogprobs = list(fields, 'include', ['logprobs']).length > 0;
  if (hasLogprobs && format !== 'json') throw wrong('include', 'include logprobs needs response_format json.');
  const isStreamed = boolean('stream', one('stream'), false);
  if (isStreamed && format !== 'json' && format !== 'text') throw wrong('stream', 'A stream needs response_format json or text.');
  return {
    model: one('model') ?? '',
    language,
    prompt,
    temperature: temperature(one('temperature')),
    format,
    hasWords: granularities.includes('word'),
    hasSegments: granularities.length === 0 || granularities.includes('segment'),
    hasLogprobs,
    isStreamed,
    skipsSilence: boolean('vad', one('vad'), true),
  };
}

const LISTS = ['timestamp_granularities', 'timestamp_granularities[]', 'include', 'include[]'];

/** Clients write a list as several fields with brackets behind the name, or without. */
function list(fields: ReadonlyMap<string, string[]>, name: string, allowed: readonly string[]): string[] {
  const given = [...(fields.get(name) ?? []), ...(fields.get(`${name}[]`) ?? [])];
  return given.map((value) => choice(name, value, allowed));
}

function choice<T extends string>(name: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((each) => each === value);
  if (found === undefined) throw wrong(name, `${name} must be one of ${allowed.join(', ')}.`);
  return found;
}

function boolean(name: string, value: string | undefined, absent: boolean): boolean {
  if (value === undefined || value === '') return absent;
  return ['true', '1'].includes(choice(name, value, ['true', 'false', '1', '0']));
}

function temperature(value: string | undefined): number {
  if (value === undefined || value === '') return 0;
  const number = /^\d(\.\d{1,6})?$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= 0 && number <= 1)) throw wrong('temperature', 'temperature must be a number from 0 to 1.');
  return number;
}

function wrong(param: string, sentence: string): Error {
  return mediaError('invalid_request', sentence, { param });
}

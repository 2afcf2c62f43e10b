/** POST /v1/audio/transcriptions and /v1/audio/translations. Source: OpenAI API reference, Audio. */
import { rm } from 'node:fs/promises';
import Type, { type Static } from 'typebox';
import type { SpeechSegment } from '../../../native/whisper.ts';
import { DomainError } from '../../../platform/errors/domain-error.ts';
import { FormFile, formBody } from '../../../platform/http/body/body-schema.ts';
import type { MultipartBody } from '../../../platform/http/body/multipart.ts';
import { declaredError } from '../../../platform/http/declared-error.ts';
import { HttpError } from '../../../platform/http/errors.ts';
import { openaiErrorBody } from '../../../platform/http/openai-error-body.ts';
import type { EventStream } from '../../../platform/http/reply/reply.ts';
import { json, type Reply, type RequestContext, type Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { quotaErrors } from '../../metering/index.ts';
import { mediaError, mediaErrors } from '../errors.ts';
import type { SpeechService } from '../speech-service.ts';
import { srtOf, type Transcript, textOf, vttOf } from '../transcript.ts';
import {
  logprobsOf,
  plainBody,
  Transcription,
  TranscriptionEvent,
  VerboseTranscription,
  verboseBody,
} from './transcript-body.ts';
import { RESPONSE_FORMATS, readTranscriptionForm, type TranscriptionForm } from './transcription-form.ts';

interface AudioRouteDeps {
  service: SpeechService;
  /** The folder of recordings that are being decoded. */
  folder: string;
  /** The English names of the languages that speech models know, by their codes. */
  languages(): ReadonlyMap<string, string>;
}

type Task = 'transcribe' | 'translate';

const MAX_BODY_BYTES = 128 * 1024 * 1024;
const MOST_TIMEOUT_SECONDS = 86_400;

const { post } = routes({ tag: 'Audio', auth: 'viewer', scope: 'chat:use', errors: mediaErrors, errorBody: openaiErrorBody });

const commonFields = {
  file: FormFile,
  model: Type.Optional(Type.String({ description: 'A speech model of this node; OpenAI’s names mean the default one.' })),
  language: Type.Optional(Type.String({ description: 'The code of what is spoken; without it, the model finds out.' })),
  prompt: Type.Optional(Type.String({ description: 'Words that are likely, or the style of the text.' })),
  temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  vad: Type.Optional(Type.Boolean({ description: 'false: parts without speech go to the model too.' })),
};
const formats = Type.Optional(Type.Enum([...RESPONSE_FORMATS]));

const description =
  'A form with `file`: WAV and MP3, and what ffmpeg on the node decodes (FLAC, Ogg, MP4, WebM, AIFF, AAC). Parts without speech give no text. ' +
  'The header X-Request-Timeout limits the time in seconds. Another model than the one that was asked for is told by X-Svc-Model-Substituted. ';

export function audioRoutes(deps: AudioRouteDeps): Route[] {
  return [
    post('/v1/audio/transcriptions', {
      maxBody: MAX_BODY_BYTES,
      summary: 'Turn speech into text',
      description: `${description}With \`stream\`, the text comes as it is recognised.`,
      bodyKind: 'multipart',
      body: formBody({
        ...commonFields,
        response_format: formats,
        stream: Type.Optional(Type.Boolean()),
        'timestamp_granularities[]': Type.Optional(Type.Array(Type.Enum(['word', 'segment']))),
        'include[]': Type.Optional(Type.Array(Type.Literal('logprobs'))),
        chunking_strategy: Type.Optional(Type.String({ description: 'Has no effect: recordings are always cut at pauses.' })),
      }),
      ...common,
      stream: TranscriptionEvent,
      handle: (context) => answer(deps, context, 'transcribe'),
    }),
    post('/v1/audio/translations', {
      maxBody: MAX_BODY_BYTES,
      summary: 'Turn speech into English text',
      description,
      bodyKind: 'multipart',
      body: formBody({ ...commonFields, response_format: formats }),
      ...common,
      handle: (context) => answer(deps, context, 'translate'),
    }),
  ];
}

const errors = [...mediaErrors.codes, ...quotaErrors.filter(({ code }) => code !== 'storage_unavailable')];
const common = {
  partLimits: { maxFiles: 1, maxFields: 32, maxFieldBytes: 8_192 },
  responses: { 200: Type.Union([Transcription, VerboseTranscription]) },
  errors,
};

type Context = RequestContext<unknown, unknown, MultipartBody>;

async function answer(deps: AudioRouteDeps, context: Context, task: Task): Promise<Reply> {
  let path = '';
  const remove = () => rm(path, { force: true });
  let form: TranscriptionForm;
  try {
    const isLanguage = (code: string) => deps.languages().has(code);
    form = await readTranscriptionForm(context.body, deps.folder, isLanguage, (given) => {
      path = given;
    });
    if (form.format === 'diarized_json')
      throw mediaError('diarization_unavailable', 'No speech model here tells speakers apart.', { param: 'response_format' });
  } catch (error) {
    if (path !== '') await remove();
    throw error;
  }
  const run = (onSegments: (segments: SpeechSegment[]) => void) =>
    transcribe(deps, context, form, task, onSegments).finally(remove);
  return form.isStreamed
    ? await streamed(run, form.hasLogprobs, context.path)
    : written(await run(() => undefined), deps, form, task);
}

async function transcribe(
  { service }: AudioRouteDeps,
  context: Context,
  { path, language, prompt, temperature, hasWords, skipsSilence, model }: TranscriptionForm,
  task: Task,
  onSegments: (segments: SpeechSegment[]) => void,
): Promise<Transcript> {
  const call = {
    model,
    temperature,
    hasWords,
    skipsSilence,
    translates: task === 'translate',
    timeoutMs: timeoutOf(context),
    caller: context.caller,
    signal: context.signal,
    announce: (name: string, value: string) => context.addHeader(name, value),
    ...(language !== undefined && { language }),
    ...(prompt !== undefined && { prompt }),
  };
  return await service.transcribe(path, call, onSegments);
}

/** Reads X-Request-Timeout, which is in seconds and may have decimals. */
function timeoutOf({ headers }: Context): number | undefined {
  const text = headers.get('x-request-timeout') ?? '';
  if (text === '') return undefined;
  const seconds = /^\d{1,6}(?:\.\d{1,6})?$/.test(text) ? Number(text) : 0;
  if (seconds > 0 && seconds <= MOST_TIMEOUT_SECONDS) return Math.ceil(seconds * 1000);
  const sentence = `The header X-Request-Timeout must be seconds, above 0 and up to ${MOST_TIMEOUT_SECONDS}.`;
  throw mediaError('invalid_request', sentence, { param: 'X-Request-Timeout' });
}

function written(transcript: Transcript, { languages }: AudioRouteDeps, form: TranscriptionForm, task: Task): Reply {
  const { segments } = transcript;
  const languageName = (code: string) => languages().get(code) ?? code;
  if (form.format === 'text') return plain(`${textOf(segments)}\n`);
  if (form.format === 'srt') return plain(srtOf(segments), 'application/x-subrip');
  if (form.format === 'vtt') return plain(vttOf(segments), 'text/vtt');
  if (form.format === 'json') return json(200, plainBody(transcript, form.hasLogprobs));
  return json(200, verboseBody(transcript, { ...form, task, languageName }));
}

function plain(body: string, type = 'text/plain'): Reply {
  return { kind: 'bytes', status: 200, headers: { 'content-type': `${type}; charset=utf-8` }, body };
}

/** A failure before the first text is a plain error with its status; a later one is the last frame. */
async function streamed(
  run: (onSegments: (segments: SpeechSegment[]) => void) => Promise<Transcript>,
  hasLogprobs: boolean,
  path: string,
): Promise<Reply> {
  const frames: string[] = [];
  let stream: EventStream | undefined;
  const send = (frame: string) => void (stream === undefined ? frames.push(frame) : stream.write(frame));
  const first = Promise.withResolvers<void>();
  const whole = run((segments) => {
    for (const segment of segments)
      send(eventFrame({ type: 'transcript.text.delta', delta: segment.text, ...logprobs(segment) }));
    first.resolve();
  });
  const logprobs = (segment: SpeechSegment) => (hasLogprobs ? { logprobs: logprobsOf(segment) } : {});
  await Promise.race([first.promise, whole]);
  const start = (opened: EventStream) => {
    stream = opened;
    for (const frame of frames) opened.write(frame);
    void whole
      .then(
        (transcript) => send(eventFrame({ type: 'transcript.text.done', ...plainBody(transcript, hasLogprobs) })),
        (error: unknown) => send(openaiErrorBody.writeFrame?.(frameError(error), path) ?? ''),
      )
      .finally(() => opened.end());
  };
  return { kind: 'events', headers: {}, start };
}

function eventFrame(event: Static<typeof TranscriptionEvent>): string {
  return `${'type' in event ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`;
}

function frameError(error: unknown): HttpError {
  const known = error instanceof DomainError ? declaredError(error, [...mediaErrors.all, ...quotaErrors]) : undefined;
  return known ?? new HttpError(500, 'internal', 'The recording could not be transcribed.', { cause: error });
}

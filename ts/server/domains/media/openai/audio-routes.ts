/** POST /v1/audio/transcriptions and /v1/audio/translations. Source: OpenAI API reference, Audio. */
import Type, { type Static } from 'typebox';
import { FormFile, formBody } from '../../../platform/http/body/body-schema.ts';
import type { MultipartBody } from '../../../platform/http/body/multipart.ts';
import { openaiErrorBody } from '../../../platform/http/openai-error-body.ts';
import { json, type Reply, type RequestContext, type Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { quotaErrors } from '../../metering/index.ts';
import { hearingErrors, mediaErrors } from '../errors.ts';
import { eventReply } from '../event-reply.ts';
import { SERVICE_TIERS } from '../form/form-fields.ts';
import { type GivenFileDeps, readGivenFile } from '../form/given-file.ts';
import { requestTimeoutMs } from '../request-timeout.ts';
import { ownerOf, type SpeechProgress, type SpeechService } from '../speech/speech-service.ts';
import { type HeardSegment, srtOf, type Transcript, textOf, vttOf } from '../speech/transcript.ts';
import { plainText } from '../speech/transcript-shape.ts';
import {
  DiarizedTranscription,
  diarizedBody,
  diarizedSegment,
  logprobsOf,
  plainBody,
  Transcription,
  TranscriptionEvent,
  VerboseTranscription,
  verboseBody,
} from './transcript-body.ts';
import { RESPONSE_FORMATS, readTranscriptionForm, type TranscriptionForm } from './transcription-form.ts';

interface AudioRouteDeps extends Pick<GivenFileDeps, 'folder' | 'languages'> {
  service: SpeechService;
}

type Task = 'transcribe' | 'translate';

const MAX_BODY_BYTES = 128 * 1024 * 1024;

const { post } = routes({ tag: 'Audio', auth: 'viewer', scope: 'chat:use', errors: mediaErrors, errorBody: openaiErrorBody });

const commonFields = {
  file: FormFile,
  model: Type.Optional(Type.String({ description: 'A speech model of this node; OpenAI’s names mean the default one.' })),
  language: Type.Optional(Type.String({ description: 'The code of what is spoken; without it, the model finds out.' })),
  prompt: Type.Optional(Type.String({ description: 'Words that are likely, or the style of the text.' })),
  temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  vad: Type.Optional(Type.Boolean({ description: 'false: parts without speech go to the model too.' })),
  service_tier: Type.Optional(Type.Enum([...SERVICE_TIERS], { description: '`flex` waits for all others.' })),
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

const common = {
  partLimits: { maxFiles: 1, maxFields: 32, maxFieldBytes: 8_192 },
  responses: { 200: Type.Union([Transcription, VerboseTranscription, DiarizedTranscription]) },
  errors: [...hearingErrors, ...quotaErrors],
};

type Context = RequestContext<unknown, unknown, MultipartBody>;

async function answer(deps: AudioRouteDeps, context: Context, task: Task): Promise<Reply> {
  const { folder, languages } = deps;
  const given = await readGivenFile(context.body, { folder, caller: context.caller, files: undefined });
  let isHandedOver = false;
  try {
    const form = readTranscriptionForm(given.fields, (code) => languages().has(code));
    const timeoutMs = requestTimeoutMs(context.headers);
    const run = (onProgress: (progress: SpeechProgress) => void) =>
      transcribe(deps, context, given.path, { ...form, timeoutMs, task }, onProgress).finally(given.remove);
    isHandedOver = true;
    return form.isStreamed ? await streamed(run, form, context.path) : written(await run(() => undefined), deps, form, task);
  } finally {
    if (!isHandedOver) await given.remove();
  }
}

async function transcribe(
  { service }: AudioRouteDeps,
  context: Context,
  path: string,
  form: TranscriptionForm & { timeoutMs: number | undefined; task: Task },
  onProgress: (progress: SpeechProgress) => void,
): Promise<Transcript> {
  const { language, prompt, temperature, hasWords, skipsSilence, isBackground, model, timeoutMs } = form;
  const call = {
    model,
    temperature,
    hasWords,
    skipsSilence,
    isBackground,
    translates: form.task === 'translate',
    tellsSpeakers: form.format === 'diarized_json',
    timeoutMs,
    owner: ownerOf(context.caller),
    mayUse: await service.mayUse(context.caller),
    signal: context.signal,
    announce: (name: string, value: string) => context.addHeader(name, value),
    ...(language !== undefined && { language }),
    ...(prompt !== undefined && { prompt }),
  };
  return await service.transcribe(path, call, onProgress);
}

function written(transcript: Transcript, { languages }: AudioRouteDeps, form: TranscriptionForm, task: Task): Reply {
  const { segments } = transcript;
  const languageName = (code: string) => languages().get(code) ?? code;
  if (form.format === 'text') return plainText(`${textOf(segments)}\n`);
  if (form.format === 'srt') return plainText(srtOf(segments), 'application/x-subrip');
  if (form.format === 'vtt') return plainText(vttOf(segments), 'text/vtt');
  if (form.format === 'diarized_json') return json(200, diarizedBody(transcript));
  if (form.format === 'json') return json(200, plainBody(transcript, form.hasLogprobs));
  return json(200, verboseBody(transcript, { ...form, task, languageName }));
}

async function streamed(
  run: (onProgress: (progress: SpeechProgress) => void) => Promise<Transcript>,
  { hasLogprobs, format }: TranscriptionForm,
  path: string,
): Promise<Reply> {
  let nSegments = 0;
  const eventsOf = (segment: HeardSegment): Static<typeof TranscriptionEvent>[] => [
    { type: 'transcript.text.delta', delta: segment.text, ...(hasLogprobs ? { logprobs: logprobsOf(segment) } : {}) },
    ...(format === 'diarized_json' ? [diarizedSegment(segment, nSegments++)] : []),
  ];
  return await eventReply({
    path,
    errorBody: openaiErrorBody,
    run: async (send) => {
      const sendTyped = (event: Static<typeof TranscriptionEvent>) => send(event, 'type' in event ? event.type : undefined);
      const transcript = await run(({ segments }) => segments.flatMap(eventsOf).forEach(sendTyped));
      sendTyped({ type: 'transcript.text.done', ...plainBody(transcript, hasLogprobs) });
    },
  });
}

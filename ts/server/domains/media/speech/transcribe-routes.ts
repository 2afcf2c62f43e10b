/** POST /api/v1/stt/transcribe and /api/v1/media/stt, which are one. */
import Type from 'typebox';
import { formOrJsonBody } from '../../../platform/http/body/body-schema.ts';
import type { Part } from '../../../platform/http/body/multipart.ts';
import { flatErrorBody } from '../../../platform/http/error-body.ts';
import { scopeOf } from '../../../platform/http/principal.ts';
import { json, type Reply, type RequestContext, type Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { named } from '../../../platform/schema/named.ts';
import { quotaErrors } from '../../metering/index.ts';
import { hearingErrors, mediaErrors } from '../errors.ts';
import { eventReply } from '../event-reply.ts';
import { type FormFields, readLanguage, SERVICE_TIERS, wrong } from '../form/form-fields.ts';
import { fileFields, type GivenFile, type GivenFileDeps, readGivenFile } from '../form/given-file.ts';
import { requestTimeoutMs } from '../request-timeout.ts';
import { readMediaFacts } from '../sound/media-facts.ts';
import type { BackgroundTranscription } from './background-transcription.ts';
import { ownerOf, type SpeechCall, type SpeechService } from './speech-service.ts';
import { MOST_COLUMNS, srtOf, type Transcript, textOf, vttOf } from './transcript.ts';
import { plainText, segmentBody, TranscriptEvent, TranscriptShape, transcriptBody } from './transcript-shape.ts';

interface TranscribeRouteDeps extends GivenFileDeps {
  service: SpeechService;
  background: BackgroundTranscription;
}

/** A request brings at most so much; larger files come by the chunked upload. */
const MAX_MEDIA_BYTES = 128 * 1024 * 1024;
const FORMATS = ['json', 'text', 'srt', 'vtt'] as const;
const TASKS = ['transcribe', 'translate'] as const;
const LEAST_COLUMNS = 8;
const COLUMNS_LIMIT = 500;

const { post } = routes({ tag: 'Media', auth: 'viewer', scope: 'chat:use', errors: mediaErrors });

const body = {
  ...fileFields,
  model: Type.Optional(Type.String({ maxLength: 512 })),
  language: Type.Optional(Type.String({ description: 'The code of what is spoken; without it, the model finds out.' })),
  task: Type.Optional(Type.Enum([...TASKS], { description: '`translate` writes English.' })),
  prompt: Type.Optional(Type.String({ description: 'Words that are likely, or the style of the text.' })),
  temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  words: Type.Optional(Type.Boolean({ description: 'Times of words.' })),
  diarize: Type.Optional(
    Type.Boolean({ description: 'Tells two speakers apart, by the turns that a model marks or by a channel each.' }),
  ),
  vad: Type.Optional(Type.Boolean({ description: 'false: parts without speech go to the model too.' })),
  max_line_length: Type.Optional(
    Type.Integer({ minimum: LEAST_COLUMNS, maximum: COLUMNS_LIMIT, description: `Of subtitles; ${MOST_COLUMNS} by default.` }),
  ),
  format: Type.Optional(Type.Enum([...FORMATS])),
  stream: Type.Optional(Type.Boolean()),
  background: Type.Optional(Type.Boolean({ description: 'Answers 202 at once; the text is the result of the job.' })),
  service_tier: Type.Optional(Type.Enum([...SERVICE_TIERS], { description: '`flex` waits for all others.' })),
};

const Begun = named('BackgroundTranscription', Type.Object({ job_id: Type.String() }));

type Context = RequestContext<unknown, unknown, AsyncIterable<Part>>;

export function transcribeRoutes(deps: TranscribeRouteDeps): Route[] {
  return ['/api/v1/stt/transcribe', '/api/v1/media/stt'].map((path) =>
    post(path, {
      maxBody: MAX_MEDIA_BYTES,
      summary: 'Turn a recording into text with times',
      description:
        'A form with `file`, or JSON or a form with `file_id`. Parts without speech give no text. With `stream`, events `segment` and `progress` come, then ' +
        '`done` with the whole answer, or `error`. X-Request-Timeout limits the time in seconds. OpenAI’s names of models mean the default one, as ' +
        'X-Svc-Model-Substituted then says.',
      bodyKind: 'form',
      body: formOrJsonBody(body),
      partLimits: { maxFiles: 1, maxFields: 32, maxFieldBytes: 8_192 },
      responses: { 200: TranscriptShape, 202: Begun },
      stream: TranscriptEvent,
      errors: [...hearingErrors, 'file_not_found', 'file_elsewhere', ...quotaErrors],
      handle: (context) => answer(deps, context),
    }),
  );
}

interface Asked {
  call: SpeechCall;
  format: (typeof FORMATS)[number];
  columns: number;
  isStreamed: boolean;
  isBackground: boolean;
}

async function answer(deps: TranscribeRouteDeps, context: Context): Promise<Reply> {
  const given = await readGivenFile(context.body, { folder: deps.folder, caller: context.caller, files: deps.files() });
  let isHandedOver = false;
  try {
    const asked = await readAsked(deps, context, given.fields);
    if (asked.isBackground) return await begin(deps, context, given, asked.call);
    isHandedOver = true;
    return asked.isStreamed ? await streamed(deps, context, given, asked) : written(await heard(deps, given, asked), asked);
  } finally {
    if (!isHandedOver) await given.remove();
  }
}

async function readAsked({ service, languages }: TranscribeRouteDeps, context: Context, fields: FormFields): Promise<Asked> {
  fields.refuseOthers(Object.keys(body));
  const format = fields.choice('format', FORMATS) ?? 'json';
  const isStreamed = fields.boolean('stream', false);
  const isBackground = fields.boolean('background', false);
  if (isStreamed && isBackground) throw wrong('stream', 'What runs in the background has no stream; follow its job.');
  if ((isStreamed || isBackground) && format !== 'json') throw wrong('format', 'Streams and jobs give the format json.');
  const language = readLanguage(fields, (code) => languages().has(code));
  const prompt = fields.text('prompt');
  const timeoutMs = requestTimeoutMs(context.headers);
  const call: SpeechCall = {
    model: fields.text('model', 512) ?? '',
    mayUse: await service.mayUse(context.caller),
    owner: ownerOf(context.caller),
    translates: fields.choice('task', TASKS) === 'translate',
    temperature: fields.number('temperature', 0, 1) ?? 0,
    hasWords: fields.boolean('words', false),
    tellsSpeakers: fields.boolean('diarize', false),
    skipsSilence: fields.boolean('vad', true),
    isBackground: fields.choice('service_tier', SERVICE_TIERS) === 'flex',
    timeoutMs,
    signal: context.signal,
    announce: (name, value) => context.addHeader(name, value),
    ...(language !== undefined && { language }),
    ...(prompt !== undefined && { prompt }),
  };
  const columns = fields.integer('max_line_length', LEAST_COLUMNS, COLUMNS_LIMIT) ?? MOST_COLUMNS;
  return { call, format, columns, isStreamed, isBackground };
}

/** The model is chosen now, by what the caller may use now. */
async function begin(
  { service, background }: TranscribeRouteDeps,
  context: Context,
  given: GivenFile,
  call: SpeechCall,
): Promise<Reply> {
  const { language, prompt, temperature = 0, translates = false, hasWords = false, skipsSilence = true } = call;
  const job = await background.enqueue(scopeOf(context.caller), call.owner, given.path, {
    model: await service.modelOf(call),
    temperature,
    translates,
    has_words: hasWords,
    tells_speakers: call.tellsSpeakers === true,
    skips_silence: skipsSilence,
    ...(given.sha256 !== undefined && { sha256: given.sha256 }),
    ...(language !== undefined && { language }),
    ...(prompt !== undefined && { prompt }),
  });
  return json(202, { job_id: job.id });
}

async function heard({ service }: TranscribeRouteDeps, given: GivenFile, { call }: Asked): Promise<Transcript> {
  return await service.transcribe(given.path, call, () => undefined).finally(given.remove);
}

function written(transcript: Transcript, { format, columns, call }: Asked): Reply {
  const { segments } = transcript;
  if (format === 'text') return plainText(`${textOf(segments)}\n`);
  if (format === 'srt') return plainText(srtOf(segments, columns), 'application/x-subrip');
  if (format === 'vtt') return plainText(vttOf(segments, columns), 'text/vtt');
  return json(200, transcriptBody(transcript, call.hasWords === true));
}

async function streamed({ service }: TranscribeRouteDeps, context: Context, given: GivenFile, { call }: Asked): Promise<Reply> {
  const hasWords = call.hasWords === true;
  return await eventReply({
    path: context.path,
    errorBody: flatErrorBody,
    run: async (send) => {
      try {
        // How long it lasts is told where the file says so; without ffmpeg nobody asks it.
        const total = await readMediaFacts(given.path, call.signal).then(
          ({ duration }) => duration,
          () => undefined,
        );
        let nSegments = 0;
        const transcript = await service.transcribe(given.path, call, ({ segments, doneSeconds }) => {
          for (const segment of segments) send(segmentBody(segment, nSegments++, hasWords), 'segment');
          send({ done_seconds: doneSeconds, total_seconds: total ?? null }, 'progress');
        });
        send(transcriptBody(transcript, hasWords), 'done');
      } finally {
        await given.remove();
      }
    },
  });
}

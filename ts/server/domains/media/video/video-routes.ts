/** POST /api/v1/video/extract-frames and /api/v1/media/video/analyze. */
import Type from 'typebox';
import { formOrJsonBody } from '../../../platform/http/body/body-schema.ts';
import type { Part } from '../../../platform/http/body/multipart.ts';
import { json, type Reply, type RequestContext, type Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { named } from '../../../platform/schema/named.ts';
import { quotaErrors } from '../../metering/index.ts';
import { mediaErrors, watchingErrors } from '../errors.ts';
import { type FormFields, readLanguage, wrong } from '../form/form-fields.ts';
import { fileFields, type GivenFile, type GivenFileDeps, readGivenFile } from '../form/given-file.ts';
import { requestTimeoutMs, withTimeout } from '../request-timeout.ts';
import { ownerOf, type SpeechService } from '../speech/speech-service.ts';
import { TranscriptShape, transcriptBody } from '../speech/transcript-shape.ts';
import type { Frame } from './film-frames.ts';
import { frameFields, readFrameRequest } from './frame-request.ts';
import { framesZip } from './frames-zip.ts';
import type { AnalysisCall, VideoService } from './video-service.ts';

interface VideoRouteDeps extends GivenFileDeps {
  service: VideoService;
  speech: SpeechService;
}

const MAX_BODY_BYTES = 128 * 1024 * 1024;
const DEFAULT_FRAMES = 8;
/** A model sees little more in wider ones. */
const WIDTH_OF_ANALYSIS = 512;
const MOST_PROMPT_BYTES = 16_384;

const { post } = routes({ tag: 'Media', auth: 'viewer', scope: 'chat:use', errors: mediaErrors });

const analysisFields = {
  ...fileFields,
  prompt: Type.Optional(Type.String({ description: 'What is asked of the film; without it, what happens in it.' })),
  model: Type.Optional(Type.String({ maxLength: 512, description: 'A chat model that sees.' })),
  language: Type.Optional(Type.String({ description: 'The code of what is spoken; without it, the model finds out.' })),
  transcript: Type.Optional(
    Type.Boolean({ description: 'Whether what is spoken counts; by default where a speech model is installed.' }),
  ),
  ...frameFields,
};
const partLimits = { maxFiles: 1, maxFields: 128, maxFieldBytes: MOST_PROMPT_BYTES };

const Frames = named(
  'VideoFrames',
  Type.Object({
    duration: Type.Union([Type.Number(), Type.Null()], { description: 'Seconds; null: the file does not say.' }),
    width: Type.Integer({ description: 'Of the film, upright.' }),
    height: Type.Integer(),
    frames: Type.Array(
      Type.Object({
        time: Type.Number({ description: 'When the frame is shown first, in seconds.' }),
        width: Type.Integer(),
        height: Type.Integer(),
        media_type: Type.String(),
        data: Type.String({ description: 'The image in base64.' }),
      }),
    ),
  }),
);

const Analyzed = named(
  'VideoAnalysis',
  Type.Object({
    text: Type.String(),
    model: Type.String(),
    duration: Type.Number(),
    frames: Type.Array(Type.Object({ n: Type.Integer(), time: Type.Number(), width: Type.Integer(), height: Type.Integer() })),
    transcript: Type.Union([TranscriptShape, Type.Null()]),
    citations: Type.Array(
      Type.Object({
        n: Type.Integer({ description: 'As [n] in the text.' }),
        kind: Type.Enum(['frame', 'speech']),
        start_seconds: Type.Number(),
        end_seconds: Type.Number(),
      }),
    ),
    usage: Type.Object({ prompt_tokens: Type.Integer(), completion_tokens: Type.Integer(), total_tokens: Type.Integer() }),
  }),
);

type Context = RequestContext<unknown, unknown, AsyncIterable<Part>>;

export function videoRoutes(deps: VideoRouteDeps): Route[] {
  return [
    post('/api/v1/video/extract-frames', {
      maxBody: MAX_BODY_BYTES,
      summary: 'Take frames out of a film',
      description:
        'A form with `file`, or JSON or a form with `file_id`. One of `times`, `every_seconds`, `count` (8 by default) and `scene` says which frames, at most ' +
        '64. With `Accept: application/zip` the answer is a ZIP file of images. The frames are upright, and their times are those of the film.',
      bodyKind: 'form',
      body: formOrJsonBody({ ...fileFields, ...frameFields }),
      partLimits,
      responses: { 200: Frames },
      errors: [...watchingErrors, ...quotaErrors],
      handle: (context) => withFile(deps, context, (given) => extract(deps, context, given)),
    }),
    post('/api/v1/media/video/analyze', {
      maxBody: MAX_BODY_BYTES,
      summary: 'Ask a model that sees about a film',
      description:
        'Frames of the film (8 by default, chosen as POST /api/v1/video/extract-frames does) and what is spoken in it go to a chat model that sees. ' +
        '`citations` has the seconds of what the text refers to as [n].',
      bodyKind: 'form',
      body: formOrJsonBody(analysisFields),
      partLimits,
      responses: { 200: Analyzed },
      errors: [...watchingErrors, 'model_cannot_see', 'answer_failed', ...quotaErrors],
      handle: (context) => withFile(deps, context, (given) => analyze(deps, context, given)),
    }),
  ];
}

async function withFile(
  { folder, files }: VideoRouteDeps,
  context: Context,
  work: (given: GivenFile) => Promise<Reply>,
): Promise<Reply> {
  const given = await readGivenFile(context.body, { folder, caller: context.caller, files: files() });
  try {
    return await work(given);
  } finally {
    await given.remove();
  }
}

async function extract({ service }: VideoRouteDeps, context: Context, { path, fields }: GivenFile): Promise<Reply> {
  fields.refuseOthers([...Object.keys(frameFields), 'times[]']);
  const signal = withTimeout(context.signal, requestTimeoutMs(context.headers));
  const { facts, frames } = await service.frames(path, readFrameRequest(fields, DEFAULT_FRAMES), context.caller.tenant, signal);
  if (/(^|[ ,])application\/zip\b/.test(context.headers.get('accept') ?? ''))
    return { kind: 'bytes', status: 200, headers: { 'content-type': 'application/zip' }, body: framesZip(frames) };
  return json(200, {
    duration: facts.duration ?? null,
    width: facts.picture?.width ?? 0,
    height: facts.picture?.height ?? 0,
    frames: frames.map(({ time, width, height, mediaType, bytes }) => ({
      time,
      width,
      height,
      media_type: mediaType,
      data: bytes.toString('base64'),
    })),
  });
}

async function analyze(deps: VideoRouteDeps, context: Context, { path, fields }: GivenFile): Promise<Reply> {
  const call = await readAnalysis(deps, context, fields);
  const { frames, transcript, ...rest } = await deps.service.analyze(path, call);
  return json(200, {
    ...rest,
    frames: frames.map(({ time, width, height }: Frame, i) => ({ n: i + 1, time, width, height })),
    transcript: transcript === undefined ? null : transcriptBody(transcript, false),
  });
}

async function readAnalysis({ speech, languages }: VideoRouteDeps, context: Context, fields: FormFields): Promise<AnalysisCall> {
  fields.refuseOthers([...Object.keys(analysisFields), 'times[]']);
  const { caller } = context;
  const language = readLanguage(fields, (code) => languages().has(code));
  const timeoutMs = requestTimeoutMs(context.headers);
  const signal = withTimeout(context.signal, timeoutMs);
  const frames = readFrameRequest(fields, DEFAULT_FRAMES);
  if (frames.format === 'webp') throw wrong('format', 'Models are shown jpeg or png.');
  return {
    prompt: fields.text('prompt', MOST_PROMPT_BYTES) ?? 'What happens in the film?',
    model: fields.text('model', 512),
    frames: { ...frames, width: frames.width ?? WIDTH_OF_ANALYSIS },
    wantsTranscript: fields.text('transcript') === undefined ? undefined : fields.boolean('transcript', true),
    speech: {
      model: '',
      mayUse: await speech.mayUse(caller),
      owner: ownerOf(caller),
      timeoutMs,
      signal,
      announce: (name, value) => context.addHeader(name, value),
      ...(language !== undefined && { language }),
    },
    caller,
    signal,
  };
}

/** POST /v1/audio/speech (OpenAI API reference, Audio), and the lists of voices and models that Open WebUI asks for. */
import Type from 'typebox';
import { openaiErrorBody } from '../../../platform/http/openai-error-body.ts';
import type { Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { named } from '../../../platform/schema/named.ts';
import { quotaErrors } from '../../metering/index.ts';
import { mediaError, mediaErrors, speakingErrors } from '../errors.ts';
import { SERVICE_TIERS } from '../form/form-fields.ts';
import { requestTimeoutMs, withTimeout } from '../request-timeout.ts';
import { ownerOf } from '../speech/speech-service.ts';
import { requireLength, type SpeakRouteDeps } from '../voices/speak-routes.ts';
import { SPEECH_FORMATS } from '../voices/speech-encoder.ts';
import { SpeechFile, speechEvent, speechReply } from '../voices/speech-reply.ts';
import type { VoiceEngineName } from '../voices/voice.ts';

const MAX_BODY_BYTES = 4_300_000;
const ENGINES: readonly VoiceEngineName[] = ['espeak-ng', 'flite', 'gguf'];
/** OpenAI's own models of this kind: they mean whichever engine has the voice. */
const FOREIGN_MODEL = /^(tts-1(-hd)?(-\d{4})?|gpt-4o-mini-tts(-\d{4}-\d{2}-\d{2})?)$/;
const ID = '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$';

const { get, post } = routes({
  tag: 'Audio',
  auth: 'viewer',
  scope: 'chat:use',
  errors: mediaErrors,
  errorBody: openaiErrorBody,
});

const SpeechBody = named(
  'CreateSpeech',
  Type.Object(
    {
      input: Type.String({ minLength: 1, description: 'Plain text: no markup is interpreted.' }),
      model: Type.Optional(Type.String({ pattern: ID, description: 'espeak-ng, flite or gguf; OpenAI’s names mean any.' })),
      voice: Type.Optional(
        Type.Union([Type.String({ pattern: ID }), Type.Object({ id: Type.String({ pattern: ID }) })], {
          description: 'One of GET /api/v1/tts/voices; OpenAI’s names mean the default one.',
        }),
      ),
      response_format: Type.Optional(Type.Enum([...SPEECH_FORMATS], { description: 'mp3 by default.' })),
      speed: Type.Optional(Type.Number({ minimum: 0.25, maximum: 4 })),
      service_tier: Type.Optional(
        Type.Enum([...SERVICE_TIERS], { description: '`flex`: a voice of GGUF files lets all others go first.' }),
      ),
      stream_format: Type.Optional(Type.Enum(['audio', 'sse'])),
      instructions: Type.Optional(Type.String({ description: 'Has no effect: these voices have one way of speaking.' })),
    },
    { additionalProperties: false },
  ),
);

const Named = Type.Object({ id: Type.String(), name: Type.String() });

export function speechRoutes(deps: SpeakRouteDeps): Route[] {
  return [
    post('/v1/audio/speech', {
      maxBody: MAX_BODY_BYTES,
      summary: 'Read a text aloud',
      description: 'The bytes come as they are made. X-Svc-Voice-Substituted says which voice stands for one of OpenAI’s.',
      body: SpeechBody,
      responses: { 200: SpeechFile },
      stream: speechEvent({ error: Type.Object({}), detail: Type.String() }),
      errors: [...speakingErrors, 'model_not_found', ...quotaErrors],
      handle: async (context) => {
        const { input: text, model = '', voice: given = '', speed = 1, service_tier } = context.body;
        const { response_format: format = 'mp3', stream_format: delivery = 'audio' } = context.body;
        requireLength(text, deps.mostCharacters, 'input');
        const asked = typeof given === 'string' ? given : given.id;
        const { voice, isSubstitute } = await deps.voices.choose({ voice: asked, language: undefined, engine: engineOf(model) });
        if (isSubstitute) context.addHeader('x-svc-voice-substituted', `${asked} -> ${voice.id}`);
        const announce = (name: string, value: string) => context.addHeader(name, value);
        const signal = withTimeout(context.signal, requestTimeoutMs(context.headers));
        const call = {
          text,
          voice,
          speed,
          isBackground: service_tier === 'flex',
          owner: ownerOf(context.caller),
          signal,
          announce,
        };
        return await speechReply({ ...deps, call, format, delivery, errorBody: openaiErrorBody, path: context.path });
      },
    }),
    get('/v1/audio/voices', {
      summary: 'List voices for Open WebUI',
      answer: named('VoiceNames', Type.Object({ voices: Type.Array(Named) })),
      errors: [],
      handle: async () => ({ voices: (await deps.voices.all()).voices.map(({ id, name }) => ({ id, name })) }),
    }),
    get('/v1/audio/models', {
      summary: 'List engines of voices for Open WebUI',
      answer: named('VoiceEngines', Type.Object({ models: Type.Array(Named) })),
      errors: [],
      handle: async () => {
        const engines = new Set((await deps.voices.all()).voices.map(({ engine }) => engine));
        return { models: [...engines].map((id) => ({ id, name: id })) };
      },
    }),
  ];
}

/** Undefined: any. Throws model_not_found. */
function engineOf(model: string): VoiceEngineName | undefined {
  if (model === '' || FOREIGN_MODEL.test(model)) return undefined;
  const engine = ENGINES.find((name) => name === model);
  if (engine === undefined)
    throw mediaError('model_not_found', `There is no engine of voices ${JSON.stringify(model)} here.`, { param: 'model' });
  return engine;
}

/** POST /api/v1/tts/synthesize and /api/v1/media/tts, which are one, and the list of voices. */
import Type from 'typebox';
import { flatErrorBody } from '../../../platform/http/error-body.ts';
import type { Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { named } from '../../../platform/schema/named.ts';
import { quotaErrors } from '../../metering/index.ts';
import { mediaError, mediaErrors, speakingErrors } from '../errors.ts';
import { SERVICE_TIERS } from '../form/form-fields.ts';
import { requestTimeoutMs, withTimeout } from '../request-timeout.ts';
import { ownerOf } from '../speech/speech-service.ts';
import type { SpeakingService } from './speaking-service.ts';
import { SPEECH_FORMATS } from './speech-encoder.ts';
import { SpeechFile, speechEvent, speechReply } from './speech-reply.ts';
import type { VoiceList } from './voice-list.ts';

export interface SpeakRouteDeps {
  service: SpeakingService;
  voices: VoiceList;
  /** Whole files lie there until they are sent. */
  folder: string;
  /** The folder of described voices; empty: there is none. */
  voicesDir: string;
  mostCharacters: number;
}

/** Four bytes for each of the most characters that a setting can allow. */
const MAX_BODY_BYTES = 4_300_000;

const { get, post } = routes({ tag: 'Media', auth: 'viewer', scope: 'chat:use', errors: mediaErrors });

const SpeakBody = named(
  'SpeakText',
  Type.Object(
    {
      text: Type.String({ minLength: 1, description: 'Plain text: no markup is interpreted.' }),
      voice: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$' })),
      language: Type.Optional(
        Type.String({ pattern: '^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8}){0,4}$', description: 'Chooses a voice where none is named.' }),
      ),
      speed: Type.Optional(Type.Number({ minimum: 0.25, maximum: 4 })),
      format: Type.Optional(Type.Enum([...SPEECH_FORMATS], { description: 'wav by default; pcm has 16 bits, 24,000 a second.' })),
      service_tier: Type.Optional(
        Type.Enum([...SERVICE_TIERS], { description: '`flex`: a voice of GGUF files lets all others go first.' }),
      ),
      stream: Type.Optional(
        Type.Enum(['audio', 'sse'], {
          description: 'The bytes as they are made, or events with parts of them; else a whole file.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
);

const VoiceShape = named(
  'Voice',
  Type.Object({
    id: Type.String(),
    name: Type.String(),
    language: Type.String(),
    engine: Type.String(),
    sample_rate: Type.Integer({ description: 'Of the engine; answers have 24,000.' }),
    license: Type.String(),
    is_default: Type.Boolean(),
  }),
);

const Voices = named(
  'Voices',
  Type.Object({
    voices: Type.Array(VoiceShape),
    models_dir: Type.String({ description: 'The folder of described voices (media.voices_dir); empty: there is none.' }),
    note: Type.String(),
  }),
);

export function speakRoutes(deps: SpeakRouteDeps): Route[] {
  const speak = ['/api/v1/tts/synthesize', '/api/v1/media/tts'].map((path) =>
    post(path, {
      maxBody: MAX_BODY_BYTES,
      summary: 'Read a text aloud',
      description:
        'Sentence by sentence. X-Request-Timeout limits the time in seconds. OpenAI’s names of voices mean the default one, as X-Svc-Voice-Substituted ' +
        'then says.',
      body: SpeakBody,
      responses: { 200: SpeechFile },
      stream: speechEvent({ error: Type.String(), detail: Type.String(), path: Type.String() }),
      errors: [...speakingErrors, ...quotaErrors],
      handle: async (context) => {
        const { text, voice: asked = '', language, speed = 1, format = 'wav', service_tier, stream } = context.body;
        requireLength(text, deps.mostCharacters, 'text');
        const { voice, isSubstitute } = await deps.voices.choose({ voice: asked, language });
        if (isSubstitute) context.addHeader('x-svc-voice-substituted', `${asked} -> ${voice.id}`);
        const announce = (name: string, value: string) => context.addHeader(name, value);
        const signal = withTimeout(context.signal, requestTimeoutMs(context.headers));
        return await speechReply({
          ...deps,
          call: { text, voice, speed, isBackground: service_tier === 'flex', owner: ownerOf(context.caller), signal, announce },
          format,
          delivery: stream ?? 'whole',
          errorBody: flatErrorBody,
          path: context.path,
        });
      },
    }),
  );
  return [...speak, voicesRoute(deps)];
}

/** Throws invalid_request. */
export function requireLength(text: string, mostCharacters: number, param: string): void {
  if (text.length > mostCharacters)
    throw mediaError('invalid_request', `${param} has ${text.length} characters, and ${mostCharacters} are the most.`, { param });
}

function voicesRoute({ voices, voicesDir }: SpeakRouteDeps): Route {
  return get('/api/v1/tts/voices', {
    summary: 'List voices',
    answer: Voices,
    errors: [],
    handle: async () => {
      const { voices: found, faults } = await voices.all();
      const defaultId = voices.defaultOf(found)?.id;
      return {
        voices: found.map(({ id, name, language, engine, sampleRate, license }) => ({
          id,
          name,
          language,
          engine,
          sample_rate: sampleRate,
          license,
          is_default: id === defaultId,
        })),
        models_dir: voicesDir,
        note: noteOf(found.length, voicesDir, faults),
      };
    },
  });
}

function noteOf(nVoices: number, voicesDir: string, faults: readonly string[]): string {
  const folder =
    voicesDir === ''
      ? 'No folder of voices is configured (media.voices_dir); voices are those of the installed engines.'
      : 'Voices of the folder come first, then those of the installed engines.';
  const none = nVoices === 0 ? ' There is none: install espeak-ng, or libflite1 for English.' : '';
  const wrong = faults.length === 0 ? '' : ` Files that describe no voice: ${faults.slice(0, 20).join('; ')}.`;
  return `${folder}${none}${wrong}`;
}

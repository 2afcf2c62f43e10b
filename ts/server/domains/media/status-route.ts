/** GET /api/v1/media/status: what the node can hear and speak with, its limits, and what is under way. */
import Type from 'typebox';
import { findMissingConfinement } from '../../native/confinement.ts';
import type { SettingValues } from '../../platform/config/setting.ts';
import type { Route } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import { anyName } from '../../platform/module/use-rules.ts';
import { named } from '../../platform/schema/named.ts';
import { mediaErrors } from './errors.ts';
import { ffmpegRemedy, findFfmpeg, installRemedy } from './programs/ffmpeg.ts';
import type { mediaSettings } from './settings.ts';
import type { SpeechModels } from './speech/speech-models.ts';
import type { SpeechService } from './speech/speech-service.ts';
import type { SpeakingService } from './voices/speaking-service.ts';
import type { VoiceList } from './voices/voice-list.ts';

interface StatusRouteDeps {
  settings: SettingValues<typeof mediaSettings>;
  models: SpeechModels;
  hearing: SpeechService;
  speaking: SpeakingService;
  voices: VoiceList;
}

const Status = named(
  'MediaStatus',
  Type.Object({
    models: Type.Array(
      Type.Object({
        id: Type.String(),
        state: Type.Enum(['loaded', 'loading', 'unloaded']),
        bytes: Type.Integer(),
        license: Type.Union([Type.String(), Type.Null()]),
        is_default: Type.Boolean(),
      }),
    ),
    programs: Type.Array(
      Type.Object({
        name: Type.Enum(['ffmpeg', 'espeak-ng', 'flite']),
        is_installed: Type.Boolean(),
        remedy: Type.Union([Type.String(), Type.Null()], { description: 'How it is installed, where it is not.' }),
      }),
    ),
    confinement_gap: Type.Union([Type.String(), Type.Null()], {
      description: 'Why programs that read files and texts of strangers cannot be held back wholly; null: they are.',
    }),
    limits: Type.Object({
      seconds: Type.Integer({ description: 'media.max_seconds' }),
      recordings: Type.Integer({ description: 'media.max_jobs' }),
      texts: Type.Integer({ description: 'media.max_texts' }),
      characters: Type.Integer({ description: 'media.max_synthesis_characters' }),
    }),
    queue: Type.Object({
      recordings: Type.Integer({ description: 'Under way, those that wait included.' }),
      waiting: Type.Integer({ description: 'Recordings that wait for a state of a model.' }),
      texts: Type.Integer({ description: 'Being read aloud.' }),
    }),
  }),
);

export function statusRoute({ settings, models, hearing, speaking, voices }: StatusRouteDeps): Route {
  const { get } = routes({ tag: 'Media', auth: 'admin', errors: mediaErrors });
  return get('/api/v1/media/status', {
    summary: 'What the node can hear and speak with, and what is under way',
    answer: Status,
    errors: [],
    handle: async () => {
      const cards = await models.cards(anyName);
      const defaultId = cards.length === 0 ? undefined : (await models.choose('', anyName)).file.id;
      const engines = new Set((await voices.all()).voices.map(({ engine }) => engine));
      const program = (name: 'ffmpeg' | 'espeak-ng' | 'flite', isInstalled: boolean, remedy: string) => ({
        name,
        is_installed: isInstalled,
        remedy: isInstalled ? null : remedy,
      });
      return {
        models: cards.map(({ id, state, sizeBytes, license = null }) => ({
          id,
          state,
          bytes: sizeBytes,
          license,
          is_default: id === defaultId,
        })),
        programs: [
          program('ffmpeg', findFfmpeg() !== undefined, ffmpegRemedy()),
          program('espeak-ng', engines.has('espeak-ng'), installRemedy('espeak-ng')),
          program('flite', engines.has('flite'), installRemedy('libflite1', 'flite')),
        ],
        confinement_gap: (await findMissingConfinement()) ?? null,
        limits: {
          seconds: settings['media.max_seconds'],
          recordings: settings['media.max_jobs'],
          texts: settings['media.max_texts'],
          characters: settings['media.max_synthesis_characters'],
        },
        queue: { recordings: hearing.nUnderWay, waiting: models.stats().nWaiting, texts: speaking.nUnderWay },
      };
    },
  });
}

/** The media module: recordings become text. */
import { defineModule, type ModuleDefinition } from '../../platform/module/module.ts';
import type { MediaApi } from './media-module.ts';
import { mediaSettings } from './settings.ts';

export { mediaErrors, speakingErrors } from './errors.ts';
export type { MediaApi } from './media-module.ts';
export { ffmpegRemedy, findFfmpeg } from './programs/ffmpeg.ts';
export type { BackgroundHearing } from './speech/background-hearing.ts';
export type { SaidPiece } from './speech/heard-notes.ts';
export type { SpeechCard } from './speech/speech-models.ts';
export { Resampler } from './voices/resampler.ts';
export { SPEECH_RATE } from './voices/speech-encoder.ts';

export const media: ModuleDefinition<typeof mediaSettings, MediaApi> = defineModule({
  name: 'media',
  settings: mediaSettings,
  // Imported here, so that a program that only reads settings does not load the whole module.
  create: async (context) => (await import('./media-module.ts')).createMedia(context),
});

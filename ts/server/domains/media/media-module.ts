/** Wires the media module. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { languages } from '../../native/whisper.ts';
import type { Principal } from '../../platform/http/principal.ts';
import type { Module } from '../../platform/module/module.ts';
import type { ModuleContext } from '../../platform/module/module-context.ts';
import { metering } from '../metering/index.ts';
import { mediaError } from './errors.ts';
import { mediaMetrics } from './media-metrics.ts';
import { audioRoutes } from './openai/audio-routes.ts';
import type { mediaSettings } from './settings.ts';
import { ffmpegRemedy, findFfmpeg } from './sound/ffmpeg.ts';
import { type SpeechCard, type SpeechFiles, SpeechModels } from './speech-models.ts';
import { SpeechService } from './speech-service.ts';

export interface MediaApi {
  /** Whoever has the model files. */
  connect(files: SpeechFiles): void;
  /** The speech models that the caller may use. */
  models(caller: Principal): Promise<SpeechCard[]>;
}

export function createMedia(context: ModuleContext<typeof mediaSettings>): Module<MediaApi> {
  const { settings, node, log, uses } = context;
  const nMostJobs = settings['media.max_jobs'];
  const models = new SpeechModels({
    defaultModel: settings['media.speech_model'],
    nMostJobs,
    idleUnloadMs: settings['media.idle_unload_seconds'] * 1000,
    installRoot: node.installRoot,
  });
  const service = new SpeechService({
    models,
    metering: context.use(metering),
    uses,
    metrics: mediaMetrics(context.metrics, models),
    maxSeconds: settings['media.max_seconds'],
    mostOfTenant: Math.max(1, Math.ceil(nMostJobs / 2)),
  });
  const folder = join(node.dataDir, 'cache', 'media');
  return {
    api: { connect: (files) => models.connect(files), models: (caller) => service.models(caller) },
    routes: audioRoutes({ service, folder, languages: knownLanguages() }),
    start: async () => {
      // What a process that was killed left there.
      await rm(folder, { recursive: true, force: true });
      if (findFfmpeg() === undefined)
        log.info('ffmpeg is not installed, so only WAV and MP3 become text', { remedy: ffmpegRemedy() });
    },
    stop: () => models.close(),
    health: () => ({ state: { ffmpeg: findFfmpeg() !== undefined }, reasons: [] }),
    ready: () => undefined,
  };
}

/** English names by their codes, which the addon has. Throws speech_model_unusable. */
function knownLanguages(): () => ReadonlyMap<string, string> {
  let known: ReadonlyMap<string, string> | undefined;
  return () => {
    try {
      known ??= new Map(languages().map(({ code, name }) => [code, name]));
      return known;
    } catch (cause) {
      const sentence = 'The native library for speech cannot be loaded; `svc doctor` has the reason.';
      throw mediaError('speech_model_unusable', sentence, { cause });
    }
  };
}

/** Wires the media module. */
import { rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { languages } from '../../native/whisper.ts';
import type { Principal } from '../../platform/http/principal.ts';
import type { Module } from '../../platform/module/module.ts';
import type { ModuleContext } from '../../platform/module/module-context.ts';
import { metering } from '../metering/index.ts';
import { mediaError } from './errors.ts';
import type { StoredFiles } from './form/given-file.ts';
import { mediaMetrics } from './media-metrics.ts';
import { audioRoutes } from './openai/audio-routes.ts';
import { speechRoutes } from './openai/speech-routes.ts';
import { ffmpegRemedy, findFfmpeg } from './programs/ffmpeg.ts';
import type { mediaSettings } from './settings.ts';
import { inspectMedia } from './sound/media-facts.ts';
import { BackgroundHearing } from './speech/background-hearing.ts';
import { BackgroundTranscription } from './speech/background-transcription.ts';
import { type SpeechCard, type SpeechFiles, SpeechModels } from './speech/speech-models.ts';
import { SpeechService } from './speech/speech-service.ts';
import { transcribeRoutes } from './speech/transcribe-routes.ts';
import { statusRoute } from './status-route.ts';
import { videoRoutes } from './video/video-routes.ts';
import { type AskModel, VideoService } from './video/video-service.ts';
import { EspeakEngine } from './voices/espeak-engine.ts';
import { FliteEngine } from './voices/flite-engine.ts';
import { speakRoutes } from './voices/speak-routes.ts';
import { SpeakingService } from './voices/speaking-service.ts';
import { VoiceList } from './voices/voice-list.ts';

export interface MediaApi {
  /** Whoever has the model files. */
  connect(files: SpeechFiles): void;
  /** Whoever has stored files. */
  connectFiles(files: StoredFiles): void;
  /** Whoever answers chats. */
  connectChat(ask: AskModel): void;
  /** Undefined while the module does not run. */
  hearing(): BackgroundHearing | undefined;
  /** The speech models that the caller may use. */
  models(caller: Principal): Promise<SpeechCard[]>;
  /** Tells the kind of a stored file, and how long it lasts; undefined while the module does not run. */
  inspection(): ((path: string) => Promise<{ kind: 'audio' | 'video'; duration: number }>) | undefined;
}

export function createMedia(context: ModuleContext<typeof mediaSettings>): Module<MediaApi> {
  const { settings, node, log, uses, jobs } = context;
  const nMostJobs = settings['media.max_jobs'];
  const maxSeconds = settings['media.max_seconds'];
  const models = new SpeechModels({
    defaultModel: settings['media.speech_model'],
    nMostJobs,
    idleUnloadMs: settings['media.idle_unload_seconds'] * 1000,
    installRoot: node.installRoot,
  });
  const meter = context.use(metering);
  const metrics = mediaMetrics(context.metrics, models);
  const service = new SpeechService({
    models,
    metering: meter,
    uses,
    metrics,
    maxSeconds,
    mostOfTenant: Math.max(1, Math.ceil(nMostJobs / 2)),
  });
  const folder = join(node.dataDir, 'cache', 'media');
  let storedFiles: StoredFiles | undefined;
  let askModel: AskModel | undefined;
  let isRunning = false;
  const files = () => storedFiles;
  const background = new BackgroundTranscription({ jobs, service, folder: join(node.dataDir, 'cache', 'media-jobs'), files });
  const languages = knownLanguages();
  const hearing = new BackgroundHearing(service, models);
  const voicesDir = settings['media.voices_dir'];
  const voices = new VoiceList({
    engines: [new FliteEngine(), new EspeakEngine()],
    folder: voicesDir,
    defaultVoice: settings['media.voice'],
  });
  const films = new VideoService({
    speech: service,
    metrics,
    maxSeconds,
    nPlaces: Math.max(2, availableParallelism()),
    askModel: () => askModel,
  });
  const speaking = {
    service: new SpeakingService({
      voices,
      metering: meter,
      metrics,
      nPlaces: Math.max(2, availableParallelism()),
      nMostTexts: settings['media.max_texts'],
    }),
    voices,
    folder,
    voicesDir,
  };
  return {
    api: {
      connect: (given) => models.connect(given),
      connectFiles: (given) => {
        storedFiles = given;
      },
      connectChat: (given) => {
        askModel = given;
      },
      hearing: () => (isRunning ? hearing : undefined),
      models: (caller) => service.models(caller),
      inspection: () => (isRunning ? (path) => inspectMedia(path, maxSeconds) : undefined),
    },
    routes: [
      ...audioRoutes({ service, folder, languages }),
      ...transcribeRoutes({ service, background, folder, files, languages }),
      ...videoRoutes({ service: films, speech: service, folder, files, languages }),
      ...speakRoutes({ ...speaking, mostCharacters: settings['media.max_synthesis_characters'] }),
      ...speechRoutes({ ...speaking, mostCharacters: settings['media.max_speech_characters'] }),
      statusRoute({ settings, models, hearing: service, speaking: speaking.service, voices }),
    ],
    belongings: { eraseTenant: (scope) => background.eraseTenant(scope) },
    start: async () => {
      // What a process that was killed left there.
      await rm(folder, { recursive: true, force: true });
      await background.start();
      isRunning = true;
      if (findFfmpeg() === undefined)
        log.info('ffmpeg is not installed, so only WAV and MP3 become text', { remedy: ffmpegRemedy() });
    },
    stop: async () => {
      isRunning = false;
      await background.stop();
      await models.close();
    },
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

/** Wires the media module. */
import { randomUUID } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
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
import { ownerOf, SpeechService } from './speech/speech-service.ts';
import { transcribeRoutes } from './speech/transcribe-routes.ts';
import { statusRoute } from './status-route.ts';
import { videoRoutes } from './video/video-routes.ts';
import { type AskModel, VideoService } from './video/video-service.ts';
import { EspeakEngine } from './voices/espeak-engine.ts';
import { FliteEngine } from './voices/flite-engine.ts';
import { GgufEngine, type InspectVoice } from './voices/gguf/gguf-engine.ts';
import { requireLength, speakRoutes } from './voices/speak-routes.ts';
import { SpeakingService } from './voices/speaking-service.ts';
import { wholeOf } from './voices/time-stretch.ts';
import { VoiceList } from './voices/voice-list.ts';

export interface MediaApi {
  /** Whoever has the model files, and inspects those that nobody knows. */
  connect(files: SpeechFiles & { inspectVoice: InspectVoice }): void;
  /** Whoever has stored files. */
  connectFiles(files: StoredFiles): void;
  /** Whoever answers chats. */
  connectChat(ask: AskModel): void;
  /** Undefined while the module does not run. */
  hearing(): BackgroundHearing | undefined;
  /** Reads a text aloud; the samples have SPEECH_RATE. Throws the errors of the module, and those of quotas. */
  speak(caller: Principal, text: string, voice: string): Promise<Int16Array>;
  /** Writes down what a recording says, by the default model; undefined: none is there. Throws as `hearing` does. */
  transcribe(caller: Principal, wav: Buffer, signal: AbortSignal): Promise<string | undefined>;
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
  const gguf = new GgufEngine({
    nMostTexts: settings['media.max_texts'],
    idleUnloadMs: settings['media.idle_unload_seconds'] * 1000,
  });
  const voices = new VoiceList({
    engines: [new FliteEngine(), new EspeakEngine(), gguf],
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
      connect: (given) => {
        models.connect(given);
        gguf.connect(given.inspectVoice);
      },
      connectFiles: (given) => {
        storedFiles = given;
      },
      connectChat: (given) => {
        askModel = given;
      },
      hearing: () => (isRunning ? hearing : undefined),
      speak: async (caller, text, asked) => {
        requireLength(text, settings['media.max_speech_characters'], 'text');
        const { voice } = await voices.choose({ voice: asked, language: undefined });
        const call = {
          text,
          voice,
          speed: 1,
          isBackground: false,
          owner: ownerOf(caller),
          signal: new AbortController().signal,
          announce: () => undefined,
        };
        return await wholeOf(await speaking.service.speak(call));
      },
      transcribe: async (caller, wav, signal) => {
        if (!isRunning || !(await hearing.canHear())) return undefined;
        const own = join(folder, `given-${randomUUID()}`);
        await mkdir(own, { recursive: true });
        try {
          await writeFile(join(own, 'recording.wav'), wav, { mode: 0o600 });
          const said = await hearing.hear(ownerOf(caller), join(own, 'recording.wav'), {
            folder: join(own, 'notes'),
            signal,
            onSeconds: () => undefined,
          });
          return said.map(({ text }) => text.trim()).join(' ');
        } finally {
          await rm(own, { recursive: true, force: true });
        }
      },
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
    belongings: {
      eraseTenant: (scope) => background.eraseTenant(scope),
      heldHere: async () => ({ tenants: await background.tenants(), accounts: [] }),
    },
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
      await Promise.all([models.close(), gguf.close()]);
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

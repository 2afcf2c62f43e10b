/** An engine for tests: it keeps what it is told, and the test says what it answers. */
import type {
  EngineLimits,
  EngineStats,
  GenerationJob,
  JobUsage,
  LoadOptions,
  ModelInfo,
  QueuedBytes,
  StagedBytes,
  SystemInfo,
} from '../../../native/llama-shapes.ts';
import { NativeError } from '../../../native/native-error.ts';
import { joinBytes } from '../../../platform/http/body/body-collector.ts';
import type { CompletionSink } from '../backend.ts';
import type { NativeBinding, NativeEmbedder, NativeEngine, NativeModel } from '../local/native-binding.ts';

export const scriptedUsage: JobUsage = {
  nPromptTokens: 7,
  nCachedTokens: 2,
  nCompletionTokens: 3,
  queueMs: 0,
  prefillMs: 10,
  decodeMs: 20,
  nDraftedTokens: 0,
  nAcceptedTokens: 0,
};

/** A token is a character here: a prompt with passages has some thousands. */
const scriptedLimits: EngineLimits = {
  nCtx: 8_192,
  nCtxPerJob: 8_192,
  nParallel: 2,
  nThreads: 1,
  memory: { hostBytes: 1000, deviceBytes: 0 },
  weights: { hostBytes: 1000, deviceBytes: 0 },
};

export interface ScriptedJob {
  id: number;
  job: GenerationJob;
  sink: CompletionSink;
}

export class ScriptedEngine implements NativeEngine {
  readonly limits = scriptedLimits;
  readonly jobs: ScriptedJob[] = [];
  readonly calls: string[] = [];
  /** Runs for each job as soon as its submitter has returned. */
  script: (sink: CompletionSink, job: GenerationJob) => void = () => {};
  offloadMemoryBytes = 0;
  /** Thrown by the next submit(). */
  refusal: NativeError | undefined;

  submit(job: GenerationJob, handler: CompletionSink): number {
    if (this.refusal) throw this.refusal;
    const id = this.jobs.length + 1;
    this.jobs.push({ id, job, sink: handler });
    setImmediate(() => {
      this.script(handler, job);
      handler.onFlush();
    });
    return id;
  }

  cancel(id: number): void {
    this.calls.push(`cancel ${id}`);
  }

  pause(id: number): void {
    this.calls.push(`pause ${id}`);
  }

  resume(id: number): void {
    this.calls.push(`resume ${id}`);
  }

  stats(): EngineStats {
    return {
      deviceFailed: false,
      nQueued: 0,
      nQueuedTokens: 0,
      nActive: 0,
      kvCellsUsed: 0,
      offloadMemoryBytes: this.offloadMemoryBytes,
      offloadDiskBytes: 0,
      offloadHitsTotal: 0,
      restoredTokensTotal: 0,
      kvCells: 512,
      promptTokensTotal: 0,
      cachedTokensTotal: 0,
      completionTokensTotal: 0,
      stepsTotal: 0,
      lateRowsTotal: 0,
      draftedTokensTotal: 0,
      acceptedTokensTotal: 0,
      lastStepMs: 1,
      jobsPerSecond: 1,
      estimates: {
        decodeStepMs: 5,
        prefillTokenMs: 0.2,
        prefillTokenDepthMs: 0.0001,
        nComputeThreads: 2,
        computePollUs: 2_000,
        computeQueuedShare: 0.01,
        kvCopyBytesPerMs: 1_000_000,
        kvDiskBytesPerMs: 0,
        draftAllowanceMs: 10,
        draftAcceptance: { ngram2: 0.4, ngram3: 0.4, ngram4: 0.4, ngram8: 0.4, ngram16: 0.4, model: 0.4 },
      },
    };
  }

  close(): Promise<void> {
    this.calls.push('close');
    for (const { sink } of this.jobs) sink.onError(new NativeError({ code: 'closed', text: 'the engine is closed' }));
    return Promise.resolve();
  }
}

/** Vectors (3, 4, 0): of length 5, so that a test sees who normalises. Scores fall with the length of the document. */
const scriptedEmbedder: NativeEmbedder = {
  limits: scriptedLimits,
  stats: () => ({ deviceFailed: false, nQueued: 3, nQueuedTokens: 60, requestsPerSecond: 40, tokenMs: 0.5 }),
  embed: (inputs) => Promise.resolve({ vectors: inputs.map(() => Float32Array.of(3, 4, 0)), nTokens: inputs.map(() => 2) }),
  rank: (_query, documents) =>
    Promise.resolve({ scores: Float32Array.from(documents, (text) => -String(text).length), nTokens: documents.map(() => 4) }),
  close: () => Promise.resolve(),
};

const scriptedInfo: ModelInfo = {
  architecture: 'llama',
  description: '',
  name: '',
  nParams: 1,
  sizeBytes: 1000,
  nVocab: 100,
  nCtxTrain: 512,
  nEmbd: 3,
  nLayer: 1,
  pooling: 'none',
  hasEncoder: false,
  hasDecoder: true,
  hasChatTemplate: true,
  supportsTools: true,
  callArguments: 'json',
  supportsThinking: false,
  supportsVision: false,
  supportsAudio: false,
  audioRate: 0,
};

/** Every model shares one engine; loads are recorded, and finish when the test lets them. */
export class ScriptedBinding implements NativeBinding {
  readonly engine = new ScriptedEngine();
  /** The embedder of models that are loaded from now on. */
  embedder: NativeEmbedder = scriptedEmbedder;
  readonly loaded: string[] = [];
  readonly closed: string[] = [];
  /** Awaited by each load. */
  gate: Promise<void> = Promise.resolve();
  /** Thrown by systemInfo(), as an unsupported processor does. */
  unavailableReason: Error | undefined;
  info: Partial<ModelInfo> = {};

  /** Reads as the text whose bytes these are. */
  stageBytes(bytes: Uint8Array | QueuedBytes): Promise<StagedBytes> {
    const text = (
      bytes instanceof Uint8Array ? Buffer.from(bytes) : joinBytes({ port: bytes.port, last: new Uint8Array() })
    ).toString();
    return Promise.resolve({ append: () => undefined, toString: () => text });
  }

  systemInfo(): SystemInfo {
    if (this.unavailableReason) throw this.unavailableReason;
    return {
      llamaVersion: '',
      ggmlVersion: '',
      devices: [],
      cpuFeatures: [],
      unusedBackends: [],
      cuda: { driver: 0, toolkit: 0, fault: '', isLost: false },
    };
  }

  async load(
    { path }: LoadOptions,
    { onProgress, signal }: { onProgress: (fraction: number) => void; signal: AbortSignal },
  ): Promise<NativeModel> {
    this.loaded.push(path);
    onProgress(0.5);
    await this.gate;
    if (signal.aborted) throw new NativeError({ code: 'load_aborted', text: 'aborted' });
    return {
      info: { ...scriptedInfo, ...this.info },
      tokenize: (text) => Promise.resolve(Int32Array.from([...String(text)], (_, index) => index)),
      detokenize: (tokens) => Promise.resolve([...tokens].map((id) => `<${id}>`).join('')),
      countTokens: (prompt) => Promise.resolve(`${String(prompt.messagesJson)}${String(prompt.toolsJson ?? '')}`.length),
      createEngine: () => Promise.resolve(this.engine),
      createEmbedder: () => Promise.resolve(this.embedder),
      close: () => {
        this.closed.push(path);
        return Promise.resolve();
      },
    };
  }
}

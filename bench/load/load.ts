/** The shapes of load that a trial can name. Counts and sizes are data; how each runs stands in bench/client/. */
import type { AgentLoad } from '../agents/agent-load.ts';
import type { CloudLoad } from '../cloud/cloud-load.ts';
import type { EmbeddingLoad } from '../embeddings/embedding-load.ts';
import type { IngestLoad } from '../ingest/ingest-load.ts';
import type { QuotesLoad } from '../ingest/quotes-load.ts';
import type { DeviceLoad } from '../iot/device-load.ts';
import type { KernelLoad } from '../kernels/kernel-load.ts';
import type { LogLoad } from '../logs/log-load.ts';
import type { SpeechLoad } from '../media/speech-load.ts';
import type { VectorLoad } from '../vectors/vector-load.ts';
import type { ChatShape } from './chat-shape.ts';
import type { StartLoad } from './start-load.ts';

export type Load =
  | WrkLoad
  | ChatLoad
  | KernelLoad
  | EmbeddingLoad
  | StartLoad
  | VectorLoad
  | IngestLoad
  | QuotesLoad
  | CloudLoad
  | AgentLoad
  | DeviceLoad
  | LogLoad
  | SpeechLoad;

/** Loads of bench/client/, each run by a process of its own. */
export type ChatLoad =
  | ClosedLoad
  | PoissonLoad
  | ConversationLoad
  | StagedLoad
  | AbortLoad
  | AbortStormLoad
  | IdleStreamLoad
  | TenantLoad
  | TenantBudgetLoad
  | CredentialLoad
  | ModelSwitchLoad
  | LongStreamLoad
  | LargeBodyLoad;

/** One request over and over, as fast as the server answers, sent by wrk. */
export interface WrkLoad {
  kind: 'wrk';
  path: string;
  connections: number;
  seconds: number;
  /** JSON body; present means POST. */
  body?: string;
}

/** Each client sends its next request when its last one ended. One request for each client is a burst. */
export interface ClosedLoad extends ChatShape {
  kind: 'closed';
  clients: number;
  requestsPerClient: number;
  /** Threads that burn CPU meanwhile, as another program on the machine would. */
  burners?: number;
  /** Failures are what the trial counts, and not a fault of the run. */
  mayFail?: true;
}

/** Requests arrive at random times, at a mean rate that does not depend on the server's answers. */
export interface PoissonLoad extends ChatShape {
  kind: 'poisson';
  /** Arrivals a second, as a multiple of a figure that an earlier phase of the same round measured; the runner fills in perSecond. */
  rate: { times: number; of: string; perSecond?: number };
  seconds: number;
}

/** Chats of several turns. The answers in the history are scripted, so that every server gets the same prompts. */
export interface ConversationLoad {
  kind: 'conversations';
  clients: number;
  turns: number;
  wordsPerTurn: number;
  answerWords: number;
  maxTokens: number;
}

/** Streams that run, and requests that arrive among them at fixed times. */
export interface StagedLoad {
  kind: 'staged';
  /** Streams that have all begun to decode before the first arrival. */
  background?: ChatShape & { clients: number };
  arrivals: readonly (ChatShape & { label: string; afterMs: number })[];
}

/** One client after another goes away without a word, while others stream; a probe behind it tells when its slot is free. */
export interface AbortLoad {
  kind: 'aborts';
  /** What the client's request was doing. `gathered` is an answer without a stream. */
  state: 'queued' | 'prefill' | 'decode' | 'gathered';
  /** Sequences that the server decodes at once. */
  slots: number;
  victims: number;
  /** A slot that is not free by then counts as this long. */
  answerTimeoutMs: number;
}

/** Requests that are aborted at random moments, while survivors stream to their end. */
export interface AbortStormLoad {
  kind: 'abort-storm';
  aborts: number;
  concurrency: number;
  survivors: ChatShape & { clients: number };
}

/** Open requests that get nothing yet, because the active streams hold every slot. */
export interface IdleStreamLoad {
  kind: 'idle-streams';
  active: number;
  idle: number;
  /** Pace at which they are opened. */
  openPerSecond: number;
  /** Between the last idle request and the measurement. */
  settleSeconds: number;
  seconds: number;
}

/** A tenant that asks now and then, and another that floods. Tenants are told apart by their API key. */
export interface TenantLoad {
  kind: 'tenants';
  quiet: ChatShape & { requests: number; pauseMs: number };
  /** Clients of the flooding tenant, each in a closed loop of its kind; absent: the quiet tenant is alone. */
  flood?: ChatShape & { clients: number; embeddingClients?: number; rerankClients?: number };
}

/** A tenant that asks for more than its tokens a minute; the load ends well within that minute. */
export interface TenantBudgetLoad extends ChatShape {
  kind: 'tenant-budget';
  clients: number;
  seconds: number;
}

/** The same small request with and without a tenant's key, in turn on one connection. */
export interface CredentialLoad {
  kind: 'credentials';
  /** Answers without a credential too. */
  path: string;
  /** Of each kind. */
  requests: number;
}

/** One request after another, each to a model drawn at random. */
export interface ModelSwitchLoad extends ChatShape {
  kind: 'model-switch';
  requests: number;
  models: readonly string[];
  /** Models that the server holds in memory at once. */
  nResident: number;
}

/** A single stream, and what the server's threads beside the computing one spend on it. */
export interface LongStreamLoad {
  kind: 'long-stream';
  promptWords: number;
  tokens: number;
}

/** What fills a large body: long text, images, nesting, members named `__proto__`, or very many small values. */
export type LargeBodyKind = 'text' | 'images' | 'nesting' | 'prototypes' | 'values';

/** Streams that run, and beside them one large request after another. */
export interface LargeBodyLoad {
  kind: 'large-bodies';
  streams: number;
  bodies: readonly LargeBodyKind[];
  /** Sizes of each, megabytes (10^6 bytes). */
  sizesMb: readonly number[];
  /** How often each is sent. */
  times: number;
  /** Without large requests, beforehand. */
  idleSeconds: number;
}

/** One chat completion, timed frame by frame. */
import type { TenantKeys } from '../load/tenant-keys.ts';
import { Connection, type Target } from './connection.ts';
import { FrameClock } from './frame-clock.ts';

export interface ChatAnswer {
  /** 0 when the connection ended before the answer was whole. */
  status: number;
  /** From sending to the headers. */
  headMs: number;
  /** From sending to the first frame that carries content; until the end when none came. */
  ttftMs: number;
  gapsMs: number[];
  e2eMs: number;
  nCompletionTokens: number;
  nPromptTokens: number;
  /** Prompt tokens that the server computed, without those that it took from a cache. */
  nPromptEvaluated: number;
  retryAfter: string | undefined;
}

interface FinalChunk {
  usage?: { prompt_tokens: number; completion_tokens: number; prompt_tokens_details?: { cached_tokens?: number } };
  /** llama-server's own member. */
  timings?: { prompt_n: number };
}

interface ChatOptions {
  apiKey?: string;
  path?: string;
  /** When the request was due, in milliseconds of performance.now(): a client that is late must not flatter the server. */
  dueAt?: number;
  onFrames?(clock: FrameClock): void;
}

export class ChatRequest {
  /** Resolves when the answer is over, also when it failed; never after abort(). */
  readonly answer: Promise<ChatAnswer>;
  readonly clock: FrameClock;
  readonly #connection: Connection;

  constructor(target: Target, body: string, { apiKey, path = '/v1/chat/completions', dueAt, onFrames }: ChatOptions = {}) {
    const startedAt = dueAt ?? performance.now();
    const clock = new FrameClock(startedAt);
    let status = 0;
    let headMs = 0;
    let retryAfter: string | undefined;
    let resolve: (answer: ChatAnswer) => void = () => undefined;
    this.clock = clock;
    this.answer = new Promise((done) => {
      resolve = done;
    });
    // A request that is about no tenant in particular comes from the one that nothing is held against.
    const key = apiKey ?? target.keys?.quiet;
    const headers = key === undefined ? {} : { 'x-api-key': key };
    this.#connection = new Connection(
      target,
      { method: 'POST', path, headers, body },
      {
        onHead: (code, fields) => {
          status = code;
          headMs = performance.now() - startedAt;
          retryAfter = fields.get('retry-after');
        },
        onBody: (bytes) => {
          const nBefore = clock.nFrames;
          clock.read(bytes, performance.now());
          if (clock.nFrames > nBefore) onFrames?.(clock);
        },
        onEnd: (isWhole) => {
          const e2eMs = performance.now() - startedAt;
          const timed = { headMs, ttftMs: clock.ttftMs ?? e2eMs, gapsMs: clock.gapsMs, e2eMs, retryAfter };
          resolve({ status: isWhole ? status : 0, ...timed, ...readUsage(clock.tail) });
        },
      },
    );
  }

  abort(): void {
    this.#connection.abort();
  }
}

/** The key of one of the server's tenants, as an option of a request; a server without accounts needs none. */
export function keyOf({ keys }: Target, tenant: keyof TenantKeys): { apiKey?: string } {
  return keys === undefined ? {} : { apiKey: keys[tenant] };
}

export function sendChat(target: Target, body: string, options?: ChatOptions): Promise<ChatAnswer> {
  return new ChatRequest(target, body, options).answer;
}

type Usage = Pick<ChatAnswer, 'nCompletionTokens' | 'nPromptTokens' | 'nPromptEvaluated'>;

function readUsage(tail: string): Usage {
  const { usage, timings } = readFinalChunk(tail);
  const nPromptTokens = usage?.prompt_tokens ?? 0;
  const nCached = usage?.prompt_tokens_details?.cached_tokens ?? 0;
  return {
    nCompletionTokens: usage?.completion_tokens ?? 0,
    nPromptTokens,
    nPromptEvaluated: timings?.prompt_n ?? nPromptTokens - nCached,
  };
}

/** The usage chunk is the last JSON frame before [DONE]; an answer without a stream is one JSON line itself. */
function readFinalChunk(tail: string): FinalChunk {
  const frame = [...tail.matchAll(/^(?:data: )?(\{.*"usage".*\})\s*$/gm)].at(-1)?.[1];
  return frame === undefined ? {} : (JSON.parse(frame) as FinalChunk);
}

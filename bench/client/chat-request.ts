/** One streamed chat completion, timed frame by frame. Frames are counted, not parsed: the client must not be what is measured. */
import { type Agent, request } from 'node:http';

export interface ChatAnswer extends Answer {
  /** Times that the request was sent again because the server had closed the connection. */
  nResent: number;
}

interface Answer {
  status: number;
  /** From sending the request to the first frame that carries content. */
  ttftMs: number;
  /** Time between one content frame and the next. */
  gapsMs: number[];
  e2eMs: number;
  nCompletionTokens: number;
  /** Prompt tokens that the server computed, without those that it took from a cache. */
  nPromptEvaluated: number;
}

interface FinalChunk {
  usage?: { prompt_tokens: number; completion_tokens: number; prompt_tokens_details?: { cached_tokens?: number } };
  /** llama-server's own member. */
  timings?: { prompt_n: number };
}

const maxAttempts = 5;

/**
 * Sends a request, and sends it again on another connection when the server closed this one without a word (llama-server does
 * so around the end of a stream): as real clients do, on the same clock, and counted.
 */
export async function sendChat(url: string, agent: Agent, body: object): Promise<ChatAnswer> {
  const startedAt = performance.now();
  for (let nResent = 0; nResent < maxAttempts; nResent++) {
    const answer = await attempt(url, agent, JSON.stringify(body), startedAt);
    if (answer !== 'connection closed') return { ...answer, nResent };
  }
  throw new Error(`the server closed ${maxAttempts} connections without an answer`);
}

function attempt(url: string, agent: Agent, body: string, startedAt: number): Promise<Answer | 'connection closed'> {
  return new Promise((resolve, reject) => {
    const frames = new FrameClock(startedAt);
    const outgoing = request(`${url}/v1/chat/completions`, {
      method: 'POST',
      agent,
      headers: { 'content-type': 'application/json' },
    });
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET') resolve('connection closed');
      else reject(error);
    });
    outgoing.on('response', (response) => {
      response.on('data', (chunk: Buffer) => frames.read(chunk, performance.now()));
      response.on('error', reject);
      response.on('end', () => resolve(frames.answer(response.statusCode ?? 0, performance.now() - startedAt)));
    });
    outgoing.end(body);
  });
}

class FrameClock {
  readonly #startedAt: number;
  readonly #gapsMs: number[] = [];
  #firstAt = 0;
  #lastAt = 0;
  #tail = '';

  constructor(startedAt: number) {
    this.#startedAt = startedAt;
  }

  read(chunk: Buffer, at: number): void {
    const nContentFrames = count(chunk, '"content":"');
    for (let frame = 0; frame < nContentFrames; frame++) this.#tick(at);
    this.#tail = (this.#tail + chunk.toString('latin1')).slice(-8_192);
  }

  answer(status: number, e2eMs: number): Answer {
    const final = readFinalChunk(this.#tail);
    const usage = final.usage;
    return {
      status,
      e2eMs,
      ttftMs: this.#firstAt === 0 ? e2eMs : this.#firstAt - this.#startedAt,
      gapsMs: this.#gapsMs,
      nCompletionTokens: usage?.completion_tokens ?? 0,
      nPromptEvaluated:
        final.timings?.prompt_n ?? (usage?.prompt_tokens ?? 0) - (usage?.prompt_tokens_details?.cached_tokens ?? 0),
    };
  }

  #tick(at: number): void {
    if (this.#firstAt === 0) this.#firstAt = at;
    else this.#gapsMs.push(at - this.#lastAt);
    this.#lastAt = at;
  }
}

/** Occurrences of non-empty content; an empty string right after the quote is the role chunk and does not count. */
function count(chunk: Buffer, needle: string): number {
  let found = 0;
  for (let at = chunk.indexOf(needle); at !== -1; at = chunk.indexOf(needle, at + needle.length)) {
    if (chunk[at + needle.length] !== 0x22) found++;
  }
  return found;
}

/** The usage chunk is the last JSON frame before [DONE]. */
function readFinalChunk(tail: string): FinalChunk {
  const frame = [...tail.matchAll(/^data: (\{.*\})$/gm)].at(-1)?.[1];
  return frame === undefined ? {} : (JSON.parse(frame) as FinalChunk);
}

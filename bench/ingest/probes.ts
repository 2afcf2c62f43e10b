/** Searches and short chats that arrive at their times, and how long each took. */
import { setTimeout as wait } from 'node:timers/promises';
import { quantile } from '../statistics.ts';
import { CHATS_PER_SECOND, SEARCHES_PER_SECOND } from './ingest-load.ts';

interface Latencies {
  readonly searchMs: number[];
  readonly chatMs: number[];
}

type Search = (question: string) => Promise<void>;

export class Probes {
  readonly #url: string;
  readonly #questions: readonly string[];
  readonly #search: Search;
  #next = 0;

  constructor(url: string, questions: readonly string[], search: Search) {
    this.#url = url;
    this.#questions = questions;
    this.#search = search;
  }

  /** Until `signal` aborts, and what is on its way has ended. */
  async run(into: Latencies, signal: AbortSignal): Promise<void> {
    await Promise.all([
      arrive(SEARCHES_PER_SECOND, signal, () => timed(into.searchMs, () => this.#search(this.#question()))),
      arrive(CHATS_PER_SECOND, signal, () => timed(into.chatMs, () => this.#chat())),
    ]);
  }

  #question(): string {
    return this.#questions[this.#next++ % this.#questions.length] ?? '';
  }

  async #chat(): Promise<void> {
    const body = {
      model: 'svc-chat-tiny',
      max_tokens: 16,
      messages: [{ role: 'user', content: `Say hello. ${this.#question()}` }],
    };
    await post(`${this.#url}/v1/chat/completions`, body);
  }
}

export function newLatencies(): Latencies {
  return { searchMs: [], chatMs: [] };
}

/** `idleSearchP99Ms` and so on. */
export function figuresOf({ searchMs, chatMs }: Latencies, name: (figure: string) => string): Record<string, number> {
  const figures = {
    SearchP50Ms: [searchMs, 0.5],
    SearchP99Ms: [searchMs, 0.99],
    ChatP50Ms: [chatMs, 0.5],
    ChatP99Ms: [chatMs, 0.99],
  } as const;
  return Object.fromEntries(
    Object.entries(figures).map(([figure, [values, share]]) => [
      name(figure),
      values.length === 0 ? Number.NaN : quantile(values, share),
    ]),
  );
}

export async function post(url: string, body: object): Promise<unknown> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(url, init);
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text.slice(0, 500)}`);
  return JSON.parse(text);
}

async function arrive(perSecond: number, signal: AbortSignal, send: () => Promise<void>): Promise<void> {
  const pending: Promise<void>[] = [];
  const beganAt = performance.now();
  for (let n = 0; !signal.aborted; n++) {
    const dueAt = beganAt + (n * 1_000) / perSecond;
    await wait(Math.max(0, dueAt - performance.now()));
    pending.push(send());
  }
  await Promise.all(pending);
}

async function timed(into: number[], run: () => Promise<void>): Promise<void> {
  const beganAt = performance.now();
  await run();
  into.push(performance.now() - beganAt);
}

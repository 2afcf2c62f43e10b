/** An answer while it is written: its text grows without a new object for each token, and listeners hear once a frame what came. */

import { noteRecalled } from '../memory/memories.ts';
import { type AnswerFacts, type Citation, citationsOf, type ToolCall, type ToolEvent } from '../thread/message.ts';

/** Nothing is drawn for so many times as long as a drawing took: however large a block grows, the page has time for its reader. */
const REST = 3;
const FRAME_MS = 16;

import type { Chunk } from './completion.ts';

export class LiveAnswer {
  readonly id: string;
  readonly parentId: string;
  text: string;
  reasoning = '';
  model = '';
  citations: Citation[] = [];
  readonly toolCalls: ToolCall[] = [];
  /** The last state of each call of the node's own tools. */
  toolEvents: readonly ToolEvent[] = [];
  readonly facts: AnswerFacts = {};
  /** Ends the connection, and no more than that where the answer is resumable. */
  readonly abort = new AbortController();
  /** What came before is not this page's. */
  readonly prefix: string;
  isResumable = false;
  /** The name of the stream at the server, where it is another than the id: nodes of a cluster say which of them has it. */
  stream: string;
  /** The reader stopped it. */
  isStopped = false;
  #startedAt: number | undefined;
  #nPieces = 0;
  /** What listeners have not heard of. */
  #pending = '';
  #frame = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #notBefore = 0;
  readonly #listeners = new Set<(text: string) => void>();

  /** `text`: what an answer that is continued has already. */
  constructor(id: string, parentId: string, text = '') {
    this.id = id;
    this.stream = id;
    this.parentId = parentId;
    this.text = text;
    this.prefix = text;
  }

  /** Hears at once what there is, and then what comes behind it. Returns how to stop listening. */
  listen(listener: (text: string) => void): () => void {
    this.flush();
    listener(this.text);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  take(chunk: Chunk): void {
    if (chunk.isResumable !== undefined) this.isResumable = chunk.isResumable;
    if (chunk.stream !== undefined) this.stream = chunk.stream;
    if (chunk.text !== undefined || chunk.reasoning !== undefined) {
      this.#startedAt ??= performance.now();
      this.#nPieces++;
    }
    if (chunk.text !== undefined) this.#takeText(storable(chunk.text));
    if (chunk.reasoning !== undefined) this.reasoning += storable(chunk.reasoning);
    if (chunk.model !== undefined) this.model = chunk.model;
    if (chunk.finishReason !== undefined) this.facts.finish_reason = chunk.finishReason;
    if (chunk.citations !== undefined) this.citations = citationsOf(chunk.citations);
    if (chunk.unindexed !== undefined) this.facts.unindexed = chunk.unindexed;
    if (chunk.memories !== undefined) noteRecalled(this.id, chunk.memories);
    if (chunk.toolCall !== undefined) this.#takeToolCall(chunk.toolCall);
    if (chunk.toolEvent !== undefined) this.#takeToolEvent(chunk.toolEvent);
    if (chunk.usage !== undefined) {
      this.facts.prompt_tokens = chunk.usage.prompt_tokens;
      this.facts.completion_tokens = chunk.usage.completion_tokens;
    }
    if (chunk.tokensPerSecond !== undefined) this.facts.tokens_per_second = chunk.tokensPerSecond;
    this.#schedule();
  }

  flush(): void {
    clearTimeout(this.#timer);
    cancelAnimationFrame(this.#frame);
    this.#timer = undefined;
    this.#frame = 0;
    const text = this.#pending;
    this.#pending = '';
    const begunAt = performance.now();
    for (const listener of this.#listeners) listener(text);
    const endedAt = performance.now();
    this.#notBefore = endedAt + REST * (endedAt - begunAt);
  }

  get hasText(): boolean {
    return this.text.length > 0;
  }

  get isEmpty(): boolean {
    return this.text === this.prefix && this.reasoning === '' && this.toolCalls.length === 0 && this.toolEvents.length === 0;
  }

  /** What is kept with the message. */
  finalFacts(): AnswerFacts {
    const seconds = this.#startedAt === undefined ? 0 : (performance.now() - this.#startedAt) / 1000;
    const tokens = this.facts.completion_tokens ?? this.#nPieces;
    return {
      ...(seconds > 0.05 && tokens > 1 ? { tokens_per_second: tokens / seconds } : {}),
      ...this.facts,
      ...(this.reasoning === '' ? {} : { reasoning: this.reasoning }),
      ...(this.toolCalls.length === 0 ? {} : { tool_calls: this.toolCalls }),
      ...(this.toolEvents.length === 0 ? {} : { tool_events: [...this.toolEvents] }),
    };
  }

  #takeText(text: string): void {
    this.text += text;
    this.#pending += text;
  }

  #schedule(): void {
    if (this.#frame !== 0 || this.#timer !== undefined) return;
    const waitMs = this.#notBefore - performance.now();
    if (waitMs <= FRAME_MS) this.#frame = requestAnimationFrame(() => this.flush());
    else
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        this.#frame = requestAnimationFrame(() => this.flush());
      }, waitMs);
  }

  #takeToolEvent(event: ToolEvent): void {
    const isKnown = this.toolEvents.some(({ call_id: id }) => id === event.call_id);
    this.toolEvents = isKnown
      ? this.toolEvents.map((known) => (known.call_id === event.call_id ? event : known))
      : [...this.toolEvents, event];
  }

  #takeToolCall({ index, name, args }: { index: number; name?: string; args?: string }): void {
    if (!Number.isInteger(index) || index < 0 || index > 127) return;
    while (this.toolCalls.length <= index) this.toolCalls.push({ name: '', args: '' });
    const call = this.toolCalls[index] as ToolCall;
    if (name !== undefined) call.name = name;
    if (args !== undefined) call.args += args;
  }
}

/** The renderer counts lines by one character, and a database stores no NUL. */
function storable(text: string): string {
  return text.replace(/\r\n?/g, '\n').replaceAll('\0', '\uFFFD');
}

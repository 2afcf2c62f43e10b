/**
 * The events of one answer, which go on being made when a client is gone. The engine's session writes into it; any number of clients
 * read, each from the event that it wants.
 */
import type { EventStream } from '../../../platform/http/route.ts';
import { type CompletionError, completionError } from '../errors.ts';
import type { EventBatch } from '../event-streams/event-batch.ts';
import { EventFollower, type EventSource, type FetchedEvents } from '../event-streams/event-follower.ts';
import { EventWindow } from '../event-streams/event-window.ts';

/** The owner of a stream: nobody else finds it. */
export interface StreamOwner {
  readonly tenant: string;
  readonly subject: string;
}

export interface StreamAbout {
  /** The id of the message that the answer becomes. */
  readonly id: string;
  readonly owner: StreamOwner;
  readonly conversationId: string;
  /** The message that the answer is to follow; undefined: its question is stored with it. */
  readonly parentId: string | undefined;
  /** The text that the stored answer begins with, which the events do not have. */
  readonly prefix: string;
  readonly model: string;
}

/** `cancelled`: by request. `failed`: by an error, by a limit, or because the node stopped. */
type StreamState = 'running' | 'completed' | 'cancelled' | 'failed';

/** Why a stream ended before its answer was whole. */
export type CutReason = 'client_closed' | 'cancelled' | 'failure' | 'shutdown';

export interface StreamParts {
  /** The event that tells of a failure, as the API of the stream spells it. */
  errorFrame(error: CompletionError): string;
  /** Throws HttpError when the caller's credential is refused by now. */
  recheck(): Promise<void>;
  /** Resolves when what was generated of the answer is stored. */
  whenStored(): Promise<void>;
}

/** The events of a stream that the registry of all streams listens to. */
export interface StreamHooks {
  /** There are new events, or the stream has ended. */
  changed(stream: ResumableStream): void;
  /** True: it may not grow now. */
  mustPause(stream: ResumableStream): boolean;
  /** Memory may have been freed. */
  freed(stream: ResumableStream): void;
  /** A client stopped reading. */
  left(stream: ResumableStream): void;
  wait(stream: ResumableStream, signal: AbortSignal): Promise<void>;
  onReaderError(stream: ResumableStream, error: unknown): void;
}

/** The bytes that a stream without events takes. */
const BASE_BYTES = 2048;
const LAST_EVENT = 'data: [DONE]\n\n';

export class ResumableStream implements EventStream, EventSource {
  readonly about: StreamAbout;
  readonly parts: StreamParts;
  /** Unix milliseconds. */
  readonly startedAt = Date.now();
  /** Set once it has ended; of performance.now(), as detachedAt. */
  endedAt: number | undefined;
  /** The time since which nobody reads, by performance.now(). */
  detachedAt: number | undefined = performance.now();
  readonly #hooks: StreamHooks;
  readonly #stop = new AbortController();
  readonly #window = new EventWindow(0);
  readonly #readers = new Set<EventFollower>();
  #state: StreamState = 'running';
  #cutBy: CutReason = 'client_closed';
  #last = 0;
  #bytesOfCharacter = 1;
  #isPaused = false;
  #drain = () => {};

  constructor(about: StreamAbout, parts: StreamParts, hooks: StreamHooks) {
    this.about = about;
    this.parts = parts;
    this.#hooks = hooks;
  }

  get state(): StreamState {
    return this.#state;
  }

  get cutBy(): CutReason {
    return this.#cutBy;
  }

  /** Aborts when the answer is not to go on. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Number of the newest event; they count from 1. */
  get last(): number {
    return this.#last;
  }

  /** Events up to this number are forgotten. */
  get floor(): number {
    return this.#window.floor;
  }

  get sizeBytes(): number {
    return BASE_BYTES + this.#window.length * this.#bytesOfCharacter;
  }

  get isRead(): boolean {
    return this.#readers.size > 0;
  }

  /** How to send the events behind `after` to a client. */
  follow(after: number): (stream: EventStream) => void {
    const reader = new EventFollower(this, after, {
      onError: (error) => this.#hooks.onReaderError(this, error),
      onProgress: () => this.#resumeIfPaused(),
    });
    return (stream) => {
      this.#readers.add(reader);
      this.detachedAt = undefined;
      void reader.start(stream).finally(() => this.#leave(reader));
    };
  }

  write(frames: Uint8Array | string): boolean {
    if (this.#state !== 'running') return false;
    const text = typeof frames === 'string' ? frames : Buffer.from(frames.buffer, frames.byteOffset, frames.length).toString();
    if (text.length < frames.length) this.#bytesOfCharacter = 2;
    this.#push(text);
    this.#isPaused = this.#hooks.mustPause(this);
    return !this.#isPaused;
  }

  onDrain(callback: () => void): void {
    this.#drain = callback;
  }

  /** The session listens to `signal`. */
  onClose(): void {}

  /** The session has written its last event. */
  end(): void {
    if (this.#state !== 'running') return;
    const newest = this.#window.after(this.#last - 1)?.at(-1);
    this.#finish(newest?.frames.endsWith(LAST_EVENT) ? 'completed' : 'failed');
  }

  /** Ends the answer before it is whole; readers hear why. The part that was generated is stored with `cutBy`. */
  cut(cutBy: CutReason, error: CompletionError): void {
    if (this.#state !== 'running') return;
    this.#cutBy = cutBy;
    this.#push(this.parts.errorFrame(error));
    this.#finish(cutBy === 'cancelled' ? 'cancelled' : 'failed');
    this.#stop.abort();
  }

  /** Forgets what all readers have, until `maxBytes` are left. */
  forget(maxBytes: number): void {
    const slowest = Math.min(...[...this.#readers].map(({ after }) => after), Number.POSITIVE_INFINITY);
    const maxLength = Math.max(0, maxBytes - BASE_BYTES) / this.#bytesOfCharacter;
    if (this.#window.forget(maxLength, slowest) > 0) this.#hooks.freed(this);
  }

  /** Goes on when it may. */
  resumeIfPaused(): void {
    if (!this.#isPaused || this.#state !== 'running' || this.#hooks.mustPause(this)) return;
    this.#isPaused = false;
    this.#drain();
  }

  inMemory(after: number) {
    const found = this.#window.after(after);
    return found?.length === 0 && this.#state !== 'running' ? undefined : found;
  }

  async fetch(after: number): Promise<FetchedEvents> {
    const isBehind = after < this.#window.floor;
    return { batches: [], last: isBehind ? this.parts.errorFrame(eventsGone()) : '' };
  }

  wait(signal: AbortSignal): Promise<void> {
    return this.#hooks.wait(this, signal);
  }

  #push(frames: string): void {
    const batch = numberedEvents(frames, this.#last + 1);
    this.#last = batch.last;
    this.#window.push(batch);
    this.#hooks.changed(this);
  }

  #finish(state: StreamState): void {
    this.#state = state;
    this.endedAt = performance.now();
    this.#hooks.changed(this);
  }

  #leave(reader: EventFollower): void {
    this.#readers.delete(reader);
    if (this.#readers.size === 0) this.detachedAt = performance.now();
    this.#resumeIfPaused();
    this.#hooks.left(this);
  }

  #resumeIfPaused(): void {
    if (this.#isPaused) this.resumeIfPaused();
  }
}

export function eventsGone(): CompletionError {
  return completionError(
    'stream_events_gone',
    'Events behind this one are not kept any more, since the answer is long or memory was needed. Once the answer is complete, it is in the conversation.',
  );
}

/** The end of an event. */
const END = '\n\n';

/**
 * Gives each event its number, as the `id` that clients send back in Last-Event-ID. `frames` are whole events, at least one, which have no
 * id yet; `first` is the number of the first.
 */
export function numberedEvents(frames: string, first: number): EventBatch {
  const events = frames.split(END);
  // Behind the last event's end.
  events.pop();
  const numbered = events.map((event, index) => `id: ${first + index}\n${event}${END}`);
  return { first, last: first + events.length - 1, frames: numbered.join('') };
}

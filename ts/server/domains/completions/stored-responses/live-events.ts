/**
 * The events of a background response while this process makes it: followers read them at once, and a few times a second they are saved.
 * The newest stay in memory, so that a follower who keeps up never asks the database.
 */
import type { EventStream } from '../../../platform/http/route.ts';
import { type EventBatch, firstBehind, joinBatches } from '../event-streams/event-batch.ts';
import { EventWindow, lengthOf } from '../event-streams/event-window.ts';
import { LAST_OF_CREATION } from './run-numbers.ts';

/** The time between the first event that is not saved and its save. */
const SAVE_DELAY_MS = 250;
/** The engine pauses while so much is not saved. */
const MAX_UNSAVED_LENGTH = 1024 * 1024;
/** Characters of saved events that stay in memory. */
const MAX_KEPT_LENGTH = 1024 * 1024;

interface LiveEventsParts {
  firstSequence: number;
  /** Number of the next event that the encoder will write. */
  nextSequence(): number;
  /** False: the response is not this run's any more. */
  save(batch: EventBatch): Promise<boolean>;
  onSaveError(error: unknown): void;
  /** There are new events. */
  onChange(): void;
}

export class LiveEvents implements EventStream {
  readonly #parts: LiveEventsParts;
  readonly #saved = new EventWindow(LAST_OF_CREATION);
  #unsaved: EventBatch[] = [];
  #unsavedLength = 0;
  #next: number;
  #timer: NodeJS.Timeout | undefined;
  #saving: Promise<void> | undefined;
  #drain = () => {};
  /** True: the answer is whole. False: the response is not this run's any more. */
  readonly #ended = Promise.withResolvers<boolean>();

  constructor(parts: LiveEventsParts) {
    this.#parts = parts;
    this.#next = parts.firstSequence;
    this.#ended.promise.catch(() => {});
  }

  /** Resolves after the last event with true, or with false once the response is not this run's any more; rejects when the signal aborts. */
  async ended(signal: AbortSignal): Promise<boolean> {
    const abort = () => this.#ended.reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    return await this.#ended.promise.finally(() => signal.removeEventListener('abort', abort));
  }

  /** Events behind `after`; undefined when the database has to be asked for the first of them. */
  after(after: number): EventBatch[] | undefined {
    if (after < this.#saved.floor) return undefined;
    const newest = this.#unsaved.slice(firstBehind(this.#unsaved, after));
    // A follower who keeps up lacks the newest alone.
    return newest.length < this.#unsaved.length ? newest : [...(this.#saved.after(after) ?? []), ...newest];
  }

  write(frames: Uint8Array | string): boolean {
    const text = typeof frames === 'string' ? frames : Buffer.from(frames).toString();
    const next = this.#parts.nextSequence();
    this.#unsaved.push({ first: this.#next, last: next - 1, frames: text });
    this.#unsavedLength += text.length;
    this.#next = next;
    this.#timer ??= setTimeout(() => this.#startSaving(), SAVE_DELAY_MS);
    this.#parts.onChange();
    return this.#unsavedLength < MAX_UNSAVED_LENGTH;
  }

  onDrain(callback: () => void): void {
    this.#drain = callback;
  }

  /** The engine is stopped by the job's signal, not by a client. */
  onClose(): void {}

  end(): void {
    this.#ended.resolve(true);
  }

  /** Saves nothing any more, and returns what is not saved. */
  async stop(): Promise<EventBatch | undefined> {
    this.#stopTimer();
    await this.#saving;
    this.#stopTimer();
    return joinBatches(this.#unsaved);
  }

  #startSaving(): void {
    this.#timer = undefined;
    this.#saving ??= this.#save().finally(() => {
      this.#saving = undefined;
    });
  }

  async #save(): Promise<void> {
    const batches = this.#unsaved.slice();
    const joined = joinBatches(batches);
    if (joined === undefined) return;
    try {
      if (!(await this.#parts.save(joined))) return this.#ended.resolve(false);
      this.#markSaved(batches);
    } catch (error) {
      this.#parts.onSaveError(error);
    }
    if (this.#unsaved.length > 0) this.#timer ??= setTimeout(() => this.#startSaving(), SAVE_DELAY_MS);
  }

  #markSaved(batches: readonly EventBatch[]): void {
    this.#unsaved.splice(0, batches.length);
    this.#unsavedLength -= lengthOf(batches);
    this.#saved.push(...batches);
    this.#saved.forget(MAX_KEPT_LENGTH);
    this.#drain();
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

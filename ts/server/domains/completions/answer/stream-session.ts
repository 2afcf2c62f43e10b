/**
 * One streamed completion between the engine and a client.
 *
 * The stream opens when the engine has admitted the job, or after the header timeout while it waits in the queue. A failure before
 * that is a plain error with its own status; a later one travels inside the frame.
 */
import type { FinishReason, JobUsage, TokenLogprob } from '../../../native/llama-shapes.ts';
import type { EventStream, EventsReply } from '../../../platform/http/route.ts';
import type { ReasoningDetail, RunningCompletion, UsageRecorder } from '../../inference/index.ts';
import { completionFailure, httpErrorOf } from '../declared-errors.ts';
import { type CompletionError, completionError } from '../errors.ts';
import type { ToolEvent, ToolSink } from '../tools/tool-event.ts';
import { Frames, type StreamEncoder } from './frames.ts';

const defaultHeaderTimeoutMs = 5_000;

interface StreamSessionOptions {
  /** How long a queued job keeps its client without headers, milliseconds. */
  headerTimeoutMs?: number;
  /** Runs before the client hears that the answer is whole. When it fails, the client hears that instead. */
  beforeDone?: ((usage: JobUsage) => Promise<void>) | undefined;
  /** The client went away before the end. */
  onLeave?: (() => void) | undefined;
  /** What answers is known with its first words: until then, the client gets the head of the answer and a comment, and no event. */
  isElsewhere?: boolean;
}

/** More is not made ahead of the record of its usage: providers say more in the meantime than a connection may hold. */
const MOST_WAITING_BYTES = 1024 * 1024;

/** An event stream may begin with a line that clients pass over. */
const WAITING = ': waiting\n\n';

export class StreamSession implements ToolSink {
  readonly isStreamed = true;
  /** Resolves when the stream opens; rejects with the error that came first. */
  readonly reply: Promise<EventsReply>;
  readonly #encoder: StreamEncoder;
  readonly #headerTimeoutMs: number;
  readonly #beforeDone: StreamSessionOptions['beforeDone'];
  readonly #onLeave: StreamSessionOptions['onLeave'];
  readonly #isElsewhere: boolean;
  readonly #frames = new Frames();
  readonly #guard = new ArgumentGuard();
  #resolve!: (reply: EventsReply) => void;
  #reject!: (error: Error) => void;
  #usage: UsageRecorder | undefined;
  #job: RunningCompletion | undefined;
  #signal: AbortSignal | undefined;
  #stream: EventStream | undefined;
  #headers: Record<string, string> = {};
  #isOpen = false;
  #hasBegun = false;
  #isFinished = false;
  #isClosed = false;
  #isPaused = false;
  #isRefused = false;
  #headerTimer: NodeJS.Timeout | undefined;

  constructor(
    encoder: StreamEncoder,
    { headerTimeoutMs = defaultHeaderTimeoutMs, beforeDone, onLeave, isElsewhere = false }: StreamSessionOptions = {},
  ) {
    this.#encoder = encoder;
    this.#headerTimeoutMs = headerTimeoutMs;
    this.#beforeDone = beforeDone;
    this.#onLeave = onLeave;
    this.#isElsewhere = isElsewhere;
    this.reply = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // The caller awaits it only once the job is queued; a failure in between is not an unhandled one.
    this.reply.catch(() => {});
  }

  begin(usage: UsageRecorder): void {
    this.#usage = usage;
    usage.onChange(() => this.#flush());
  }

  /** Binds the queued job. Headers are those of the reply; the signal ends the job with its client. */
  bind(job: RunningCompletion, headers: Record<string, string>, signal: AbortSignal): void {
    this.#job = job;
    this.#headers = headers;
    if (this.#isRefused) job.cancel();
    if (this.#isClosed) return;
    if (!this.#isOpen) this.#headerTimer = setTimeout(() => this.#waited(), this.#headerTimeoutMs);
    if (signal.aborted) this.#leave();
    else signal.addEventListener('abort', this.#leave, { once: true });
    this.#signal = signal;
  }

  onStart(nPromptTokens: number, _nCachedTokens?: number, model?: string): void {
    this.#usage?.started(nPromptTokens);
    const refusal = this.#usage?.refusal;
    if (refusal !== undefined) this.#refuse(completionFailure(refusal));
    else this.#open(nPromptTokens, model);
  }

  onContent(choice: number, jsonBody: Buffer): void {
    this.#usage?.text(jsonBody.length);
    this.#open();
    this.#encoder.content(this.#frames, choice, jsonBody);
  }

  onReasoning(choice: number, jsonBody: Buffer): void {
    this.#usage?.text(jsonBody.length);
    this.#open();
    this.#encoder.reasoning(this.#frames, choice, jsonBody);
  }

  onReasoningDetail(choice: number, detail: ReasoningDetail): void {
    this.#open();
    this.#encoder.reasoningDetail(this.#frames, choice, detail);
  }

  onToolCall(choice: number, index: number, id: string, name: string): void {
    this.#open();
    this.#complete(choice);
    this.#guard.started(choice, index);
    this.#encoder.toolCall(this.#frames, choice, index, id, name);
  }

  onToolArguments(choice: number, index: number, jsonBody: Buffer): void {
    this.#usage?.text(jsonBody.length);
    this.#guard.received(choice);
    this.#encoder.toolArguments(this.#frames, choice, index, jsonBody);
  }

  onLogprobs(choice: number, tokens: TokenLogprob[]): void {
    this.#open();
    this.#encoder.logprobs(this.#frames, choice, tokens);
  }

  /** Between the rounds of an answer: nothing is decoded, so that it is sent at once. */
  onToolEvent(event: ToolEvent): void {
    this.#open();
    this.#encoder.toolEvent?.(this.#frames, event);
    this.#flush();
  }

  onFinish(choice: number, reason: FinishReason, stopString: string): void {
    this.#open();
    this.#complete(choice);
    this.#encoder.finish(this.#frames, choice, reason, stopString);
  }

  onDone(usage: JobUsage): void {
    this.#usage?.completed(usage);
    this.#open();
    if (this.#beforeDone) return void this.#doneAfter(this.#beforeDone(usage), usage);
    this.#encoder.done(this.#frames, usage);
    this.#isFinished = true;
  }

  onError(error: Error): void {
    const failure = completionFailure(error);
    this.#usage?.failed(failure.code);
    if (!this.#isOpen) {
      this.#close();
      this.#reject(failure);
      return;
    }
    this.#begin();
    this.#encoder.error(this.#frames, httpErrorOf(failure));
    this.#isFinished = true;
  }

  async #doneAfter(work: Promise<void>, usage: JobUsage): Promise<void> {
    try {
      await work;
      this.#encoder.done(this.#frames, usage);
    } catch (error) {
      this.#encoder.error(this.#frames, httpErrorOf(completionFailure(error)));
    }
    this.#isFinished = true;
    this.#flush();
  }

  onFlush(): void {
    this.#flush();
    this.#usage?.flushed();
  }

  /** Writes what is covered; the rest waits for `onChange`. */
  #flush(): void {
    if (this.#isClosed) return;
    const isCovered = this.#isRefused || this.#usage === undefined || this.#usage.isCovered();
    const refusal = this.#isRefused ? undefined : this.#usage?.refusal;
    if (refusal !== undefined) {
      this.#refuse(completionFailure(refusal));
      return;
    }
    const stream = this.#stream;
    if (!stream || !isCovered) {
      if (this.#frames.length > MOST_WAITING_BYTES) this.#pause();
      return;
    }
    if (this.#frames.length > 0) this.#write(stream);
    if (!this.#isFinished) return;
    this.#close();
    stream.end();
  }

  /** The work may not go on: its client hears why, and nothing that was not recorded. */
  #refuse(failure: CompletionError): void {
    this.#isRefused = true;
    this.#usage?.failed(failure.code);
    this.#job?.cancel();
    if (!this.#isOpen) {
      this.#close();
      this.#reject(failure);
      return;
    }
    this.#frames.take();
    this.#begin();
    this.#encoder.error(this.#frames, httpErrorOf(failure));
    this.#isFinished = true;
    this.#flush();
  }

  #complete(choice: number): void {
    this.#guard.complete(choice, (index, jsonBody) => this.#encoder.toolArguments(this.#frames, choice, index, jsonBody));
  }

  #write(stream: EventStream): void {
    if (stream.write(this.#frames.take())) this.#drained();
    else this.#pause();
  }

  #pause(): void {
    if (this.#isPaused || this.#isFinished) return;
    this.#isPaused = true;
    this.#job?.pause();
  }

  /** The client has waited for long enough to be told that its answer is being made. */
  #waited(): void {
    if (this.#isOpen || this.#isClosed) return;
    if (!this.#isElsewhere) {
      this.#open();
      return;
    }
    this.#frames.pushText(WAITING);
    this.#answer();
  }

  #open(nPromptTokens = 0, model?: string): void {
    if (this.#hasBegun || this.#isClosed) return;
    this.#begin(nPromptTokens, model);
    this.#answer();
  }

  #begin(nPromptTokens = 0, model?: string): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#encoder.open(this.#frames, nPromptTokens, model);
  }

  #answer(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#clearHeaderTimer();
    // bind() runs after submit() returns; a backend may report the start before that.
    queueMicrotask(() => this.#resolve({ kind: 'events', headers: this.#headers, start: (stream) => this.#attach(stream) }));
  }

  #attach(stream: EventStream): void {
    this.#stream = stream;
    stream.onClose(this.#leave);
    stream.onDrain(() => this.#drained());
    this.#flush();
    // It may open long before the first token: thousands of streams that wait must stay small.
    this.#frames.release();
  }

  #drained(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#job?.resume();
  }

  /** The client went away. */
  readonly #leave = (): void => {
    if (this.#isClosed) return;
    this.#close();
    this.#job?.cancel();
    this.#onLeave?.();
    this.#reject(completionError('client_closed', 'The client went away.'));
  };

  #close(): void {
    this.#isClosed = true;
    this.#clearHeaderTimer();
    this.#signal?.removeEventListener('abort', this.#leave);
  }

  #clearHeaderTimer(): void {
    clearTimeout(this.#headerTimer);
    this.#headerTimer = undefined;
  }
}

const emptyArguments = Buffer.from('{}');

export class ArgumentGuard {
  /** Choice -> index of its open call, which has no arguments yet. */
  #bare: Map<number, number> | undefined;

  started(choice: number, index: number): void {
    this.#bare ??= new Map();
    this.#bare.set(choice, index);
  }

  received(choice: number): void {
    this.#bare?.delete(choice);
  }

  /** Call before the next call of the choice begins, and before its end. */
  complete(choice: number, send: (index: number, jsonBody: Buffer) => void): void {
    const index = this.#bare?.get(choice);
    if (index === undefined) return;
    this.#bare?.delete(choice);
    send(index, emptyArguments);
  }
}

/** One answer that another node makes. Until its first content another node may begin again; after it none does. */

import { DomainError } from '../../../platform/errors/domain-error.ts';
import type { BackendCompletion, CallOptions, CompletionSink, RunningCompletion } from '../../inference/index.ts';
import { tryNodes } from '../protocol/attempts.ts';
import { type AnswerRecord, RecordReader } from './frames.ts';
import type { Peer } from './peers.ts';
import { mayTryElsewhere, nodeLost, readError } from './work.ts';

export interface RemoteCompletionParts {
  readonly sink: CompletionSink;
  readonly model: string;
  readonly nChoices: number;
  /** The body of the request, for whichever node. */
  body(): string;
  /** Undefined: no node that was not tried takes it. */
  choose(tried: ReadonlySet<Peer>): Peer | undefined;
  /** The beginning of the prompt. */
  readonly blocks: Int32Array;
  announce: CallOptions['announce'];
  onEnd(outcome: 'ok' | 'refused' | 'lost' | 'cancelled', nAttempts: number): void;
  /** The other node had so much of the prompt in its cache. */
  onSaved(nTokens: number): void;
}

/** Calls of one choice. */
const MOST_CALLS = 256;
/** The text and the other records of an answer have so many: the longest context has less. */
const MOST_ANSWER_BYTES = 64 * 2 ** 20;

export class RemoteCompletion implements BackendCompletion, RunningCompletion {
  readonly #parts: RemoteCompletionParts;
  readonly #gone = new AbortController();
  readonly #tried = new Set<Peer>();
  #start: Parameters<CompletionSink['onStart']> | undefined;
  /** The client may have something of the answer. */
  #hasBegun = false;
  #isOver = false;
  #isPaused = false;
  #resumed: (() => void) | undefined;

  constructor(parts: RemoteCompletionParts) {
    this.#parts = parts;
  }

  async run(): Promise<void> {
    const { model, choose } = this.#parts;
    const failure = await tryNodes<Peer, DomainError>({
      tried: this.#tried,
      choose,
      attempt: (peer) => this.#attempt(peer),
      hasBegun: () => this.#hasBegun,
      mayTryElsewhere,
      isOver: () => this.#isOver,
    });
    if (failure === 'nobody') this.#fail(nodeLost(model, 'no node that has it takes work now'));
    else if (failure !== undefined) this.#fail(failure);
  }

  cancel(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#parts.onEnd('cancelled', this.#tried.size);
    this.#gone.abort();
    this.#resumed?.();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#resumed?.();
  }

  /** The other node frees by itself what it holds. */
  release(): void {
    if (!this.#isOver) this.cancel();
  }

  /** Undefined: the answer is over. */
  async #attempt(peer: Peer): Promise<DomainError | undefined> {
    const read = peer.dispatch(this.#parts.blocks);
    const ended = new AbortController();
    try {
      const signal = AbortSignal.any([this.#gone.signal, ended.signal]);
      const response = await peer.ask('/complete', signal, this.#parts.body());
      if (response.status !== 200) {
        response.discard();
        return nodeLost(this.#parts.model, `it answers ${response.status}`);
      }
      const reader = new RecordReader();
      let nBytes = 0;
      for await (const chunk of response.chunks()) {
        const records = reader.read(chunk);
        if (records.length > 0) nBytes += chunk.length;
        if (nBytes > MOST_ANSWER_BYTES) throw new Error('its answer has no end');
        if (records.length > 0) read();
        const refusal = this.#hear(records, peer);
        if (refusal !== undefined || this.#isOver) return refusal;
        if (this.#isPaused) await new Promise<void>((resolve) => (this.#resumed = resolve));
      }
      return nodeLost(this.#parts.model, 'it ended the answer before it was whole');
    } catch (error) {
      if (error instanceof DomainError) return error;
      if (!this.#isOver) peer.isAnswering = false;
      return nodeLost(this.#parts.model, (error as Error).message, error);
    } finally {
      read();
      peer.nDispatched -= 1;
      ended.abort();
    }
  }

  #hear(records: readonly AnswerRecord[], peer: Peer): DomainError | undefined {
    for (const record of records) {
      if (this.#isOver) return undefined;
      if (record.kind === 'call' && record.call[0] === 'onError') return readError(record.call[1]);
      if (record.kind === 'call' && record.call[0] === 'onStart') this.#start = startOf(record.call);
      else {
        if (!this.#hasBegun) this.#begin(peer);
        this.#tell(record);
      }
    }
    if (records.length > 0 && this.#hasBegun && !this.#isOver) this.#parts.sink.onFlush();
    return undefined;
  }

  /** The start is told once nothing can begin again. */
  #begin({ facts }: Peer): void {
    this.#hasBegun = true;
    this.#parts.announce?.('x-svc-node', headerText(facts.name));
    const start = this.#start ?? [0, 0];
    this.#parts.onSaved(start[1]);
    this.#parts.sink.onStart(...start);
  }

  #tell(record: AnswerRecord): void {
    const { sink, nChoices } = this.#parts;
    if (record.kind === 'call') {
      const [name, ...values] = record.call;
      if (name === 'onDone') {
        this.#done(values[0] as Parameters<CompletionSink['onDone']>[0]);
        return;
      }
      this.#check(Number(values[0]), name === 'onToolCall' ? Number(values[1]) : 0, nChoices);
      (sink[name as 'onFinish'] as (...all: unknown[]) => void).apply(sink, values);
      return;
    }
    const { choice, bytes } = record;
    this.#check(choice, record.kind === 'arguments' ? record.index : 0, nChoices);
    if (record.kind === 'content') sink.onContent(choice, bytes);
    else if (record.kind === 'reasoning') sink.onReasoning(choice, bytes);
    else sink.onToolArguments(choice, record.index, bytes);
  }

  #check(choice: number, index: number, nChoices: number): void {
    const isKnown = Number.isInteger(choice) && choice >= 0 && choice < nChoices && index >= 0 && index < MOST_CALLS;
    if (!isKnown) throw new Error('a node sends what was not asked for');
  }

  #done(usage: Parameters<CompletionSink['onDone']>[0]): void {
    this.#isOver = true;
    this.#parts.onEnd('ok', this.#tried.size);
    this.#parts.sink.onDone(usage);
    this.#parts.sink.onFlush();
  }

  #fail(error: DomainError): void {
    this.#isOver = true;
    this.#parts.onEnd(error.code === 'node_lost' ? 'lost' : 'refused', this.#tried.size);
    this.#parts.sink.onError(error);
    this.#parts.sink.onFlush();
  }
}

/** Names of machines are visible ASCII; everything else is percent-encoded. */
function headerText(text: string): string {
  return encodeURI(text.slice(0, 200).toWellFormed());
}

function startOf([, nPromptTokens, nCachedTokens, model]: readonly unknown[]): Parameters<CompletionSink['onStart']> {
  const counts = [Number(nPromptTokens), Number(nCachedTokens)] as const;
  return typeof model === 'string' ? [...counts, model] : [...counts];
}

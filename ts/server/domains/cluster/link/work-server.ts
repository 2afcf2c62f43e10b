/** Answers what other nodes ask of this one's models. It meters nothing: the node that has the caller does. */
import type { ServerResponse } from 'node:http';
import type { EmbedResult, JobUsage } from '../../../native/llama-shapes.ts';
import type { Log } from '../../../platform/log/log.ts';
import {
  type BackendCompletion,
  type CompletionSink,
  type InferenceService,
  inferenceErrors,
  isOwn,
  type ModelCard,
} from '../../inference/index.ts';
import { hasFrames, writeReport, writeVectors } from './bodies.ts';
import { decode, encode, IDLE_LINE, recordLine } from './frames.ts';
import type { LinkRequest } from './link-listener.ts';
import { BLOCK_TOKENS, blocksOf, PrefixDigest } from './prefixes.ts';
import {
  type CompletionWork,
  LOAD_HEADER,
  type NodeLoad,
  type NodeReport,
  type ReportedCard,
  type StateReport,
  type WholeWork,
  wholeMethods,
  writtenError,
  writtenLoad,
} from './work.ts';

interface WorkServerParts {
  /** Undefined while the module is off. */
  models(): InferenceService | undefined;
  /** The state of this node, where it is a primary or a standby. */
  state(): Promise<StateReport>;
  nodeId(): string;
  readonly log: Log;
  /** How often an answer without news says that it goes on. */
  readonly idleMs: number;
}

/** By which a node asks another whether it answers, and with what. */
export const PROBE_PATH = '/node';
const WORK = { kind: 'work' } as const;
/** A prompt that is shorter says little of how fast a node reads. */
const TELLING_TOKENS = 32;
/** The weight of what was read before. */
const RATE_MEMORY = 0.95;

export class WorkServer {
  readonly #parts: WorkServerParts;
  readonly #prefixes = new PrefixDigest();
  #nRunning = 0;
  #nQueuedTokens = 0;
  /** What was read of late, and in which time: a short prompt, which is mostly overhead, counts for little. */
  #nRead = 0;
  #readMs = 0;

  constructor(parts: WorkServerParts) {
    this.#parts = parts;
  }

  get load(): NodeLoad {
    return {
      nRunning: this.#nRunning,
      nQueuedTokens: this.#nQueuedTokens,
      tokensPerSecond: this.#readMs === 0 ? 0 : (this.#nRead * 1000) / this.#readMs,
    };
  }

  async answer(request: LinkRequest): Promise<void> {
    if (request.path === PROBE_PATH) return await this.#report(request);
    if (request.path === '/complete') return await this.#counted(() => this.#complete(request));
    if (request.path === '/whole') return await this.#counted(() => this.#whole(request));
    request.response.writeHead(404).end();
  }

  async #counted(work: () => Promise<void>): Promise<void> {
    this.#nRunning += 1;
    await work().finally(() => {
      this.#nRunning -= 1;
    });
  }

  async #report({ response, version }: LinkRequest): Promise<void> {
    const cards = (await this.#parts.models()?.models(WORK)) ?? [];
    const usable = cards.filter(isOffered).map(({ costOf, ...card }) => ({ ...card, ...(costOf && { costs: costsOf(costOf) }) }));
    const report: NodeReport = {
      id: this.#parts.nodeId(),
      cards: usable,
      load: this.load,
      prefixes: this.#prefixes.hashes,
      ...(await this.#parts.state()),
    };
    response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(writeReport(report, version));
  }

  async #complete({ body, response }: LinkRequest): Promise<void> {
    const { model, request, options } = decode(await body()) as CompletionWork;
    const gone = new AbortController();
    const blocks = blocksOf(options.tenant, request.job.prompt);
    const nMissing = (blocks.length - this.#prefixes.nKnown(blocks)) * BLOCK_TOKENS;
    this.#prefixes.add(blocks);
    this.#nQueuedTokens += nMissing;
    let isRead = false;
    const read = (): void => {
      if (!isRead) this.#nQueuedTokens -= nMissing;
      isRead = true;
    };
    response.setHeader(LOAD_HEADER, writtenLoad(this.load));
    const answer = new AnswerWriter(response, this.#parts.idleMs, { onStart: read, onDone: (usage) => this.#measure(usage) });
    response.once('close', () => gone.abort());
    try {
      const { backend, card } = await this.#find(model);
      const running = await backend.complete(card, request, answer, { ...options, signal: gone.signal });
      await answer.follow(running);
    } catch (error) {
      answer.onError(error as Error);
      answer.onFlush();
    } finally {
      read();
    }
  }

  #measure({ nPromptTokens, nCachedTokens, prefillMs }: JobUsage): void {
    const nRead = nPromptTokens - nCachedTokens;
    if (nRead < TELLING_TOKENS || !(prefillMs > 0)) return;
    this.#nRead = RATE_MEMORY * this.#nRead + nRead;
    this.#readMs = RATE_MEMORY * this.#readMs + prefillMs;
  }

  async #whole({ body, response, version }: LinkRequest): Promise<void> {
    const { model, method, arguments: given, options } = decode(await body()) as WholeWork;
    const gone = new AbortController();
    response.writeHead(200, { 'content-type': 'application/octet-stream', [LOAD_HEADER]: writtenLoad(this.load) });
    response.flushHeaders();
    // Blanks before JSON and before a frame are no part of it.
    const idle = setInterval(() => response.write(' '), this.#parts.idleMs).unref();
    response.once('close', () => gone.abort());
    try {
      if (!wholeMethods.includes(method)) throw inferenceErrors.error('unsupported', `A node asks for ${String(method)}.`);
      const { backend, card } = await this.#find(model);
      const call = { ...options, signal: gone.signal };
      const work = backend[method] as ((...all: unknown[]) => Promise<unknown>) | undefined;
      const value = await work?.call(backend, card, ...given, method === 'contentHash' ? gone.signal : call);
      const isFrame = method === 'embed' && hasFrames(version);
      response.end(isFrame ? writeVectors(value as EmbedResult) : encode({ value }));
    } catch (error) {
      response.end(encode({ error: writtenError(error) }));
    } finally {
      clearInterval(idle);
    }
  }

  async #find(model: string) {
    const found = await this.#parts.models()?.findHere(model);
    if (found === undefined) throw inferenceErrors.error('model_not_found', `The node has no model ${model} any more.`);
    return found;
  }
}

/** A model that works here, or one of a provider whose key this node has. */
function isOffered(card: ModelCard): boolean {
  if (isOwn(card)) return card.state !== 'inspecting' && card.state !== 'unusable';
  return card.nodes === undefined && card.servingState === 'ok';
}

const MILLION = 1_000_000;

/** The price is a function, which does not travel: a million tokens of each kind tell what others need for an estimate. */
function costsOf(costOf: NonNullable<ModelCard['costOf']>): ReportedCard['costs'] {
  const [ofPrompt, ofCompletion] = [costOf(MILLION, 0), costOf(0, MILLION)];
  return ofPrompt === undefined || ofCompletion === undefined ? undefined : [ofPrompt, ofCompletion];
}

/** The server is told when a prompt was read, and what an answer took. */
interface Told {
  onStart(): void;
  onDone(usage: JobUsage): void;
}

/** Hears an engine and writes records; a node that reads slowly has its sequence paused. */
class AnswerWriter implements CompletionSink {
  readonly isStreamed = true;
  readonly #response: ServerResponse;
  readonly #idle: NodeJS.Timeout;
  readonly #over = Promise.withResolvers<void>();
  readonly #told: Told;
  #lines: Buffer[] = [];
  #running: BackendCompletion | undefined;
  #isPaused = false;
  #isOver = false;

  constructor(response: ServerResponse, idleMs: number, told: Told) {
    this.#response = response;
    this.#told = told;
    response.writeHead(200, { 'content-type': 'application/octet-stream' });
    response.flushHeaders();
    this.#idle = setInterval(() => this.#write([IDLE_LINE]), idleMs).unref();
    response.on('drain', () => this.#resume());
    response.once('close', () => this.#end());
  }

  /** Resolves when the answer is over, however it ends. */
  async follow(running: BackendCompletion): Promise<void> {
    this.#running = running;
    if (this.#isPaused) running.pause();
    await this.#over.promise;
    // An engine that is done takes no notice.
    running.cancel();
    running.release();
  }

  begin(): void {}

  onStart(nPromptTokens: number, nCachedTokens: number, model?: string): void {
    this.#told.onStart();
    this.#lines.push(
      ...recordLine.call([
        'onStart',
        nPromptTokens,
        nCachedTokens,
        ...(model === undefined ? ([] as const) : ([model] as const)),
      ]),
    );
  }

  onContent(choice: number, body: Buffer): void {
    this.#lines.push(...recordLine.content(choice, Buffer.from(body)));
  }

  onReasoning(choice: number, body: Buffer): void {
    this.#lines.push(...recordLine.reasoning(choice, Buffer.from(body)));
  }

  onReasoningDetail(...[choice, detail]: Parameters<CompletionSink['onReasoningDetail']>): void {
    this.#lines.push(...recordLine.call(['onReasoningDetail', choice, detail]));
  }

  onToolCall(choice: number, index: number, id: string, name: string): void {
    this.#lines.push(...recordLine.call(['onToolCall', choice, index, id, name]));
  }

  onToolArguments(choice: number, index: number, body: Buffer): void {
    this.#lines.push(...recordLine.arguments(choice, index, Buffer.from(body)));
  }

  onLogprobs(...[choice, tokens]: Parameters<CompletionSink['onLogprobs']>): void {
    this.#lines.push(...recordLine.call(['onLogprobs', choice, tokens]));
  }

  onFinish(...[choice, reason, stopString]: Parameters<CompletionSink['onFinish']>): void {
    this.#lines.push(...recordLine.call(['onFinish', choice, reason, stopString]));
  }

  onDone(usage: JobUsage): void {
    this.#told.onDone(usage);
    this.#lines.push(...recordLine.call(['onDone', usage]));
    this.#finish();
  }

  onError(error: Error): void {
    this.#lines.push(...recordLine.call(['onError', writtenError(error)]));
    this.#finish();
  }

  onFlush(): void {
    if (this.#lines.length > 0) this.#write(this.#lines);
    this.#lines = [];
  }

  #finish(): void {
    this.onFlush();
    this.#end();
    this.#response.end();
  }

  #write(lines: readonly Buffer[]): void {
    if (this.#isOver || this.#response.destroyed) return;
    if (this.#response.write(Buffer.concat(lines)) || this.#isPaused) return;
    this.#isPaused = true;
    this.#running?.pause();
  }

  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    if (!this.#isOver) this.#running?.resume();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearInterval(this.#idle);
    this.#over.resolve();
  }
}

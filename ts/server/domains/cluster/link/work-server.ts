/** Answers what other nodes ask of this one's models. It meters nothing: the node that has the caller does. */
import type { ServerResponse } from 'node:http';
import type { Log } from '../../../platform/log/log.ts';
import {
  type BackendCompletion,
  type CompletionSink,
  type InferenceService,
  inferenceErrors,
  isOwn,
} from '../../inference/index.ts';
import { decode, encode, IDLE_LINE, recordLine } from './frames.ts';
import type { LinkRequest } from './link-listener.ts';
import { type CompletionWork, type NodeReport, type WholeWork, wholeMethods, writtenError } from './work.ts';

interface WorkServerParts {
  /** Undefined while the module is off. */
  models(): InferenceService | undefined;
  nodeId(): string;
  readonly log: Log;
  /** How often an answer without news says that it goes on. */
  readonly idleMs: number;
}

/** By which a node asks another whether it answers, and with what. */
export const PROBE_PATH = '/node';
const WORK = { kind: 'work' } as const;

export class WorkServer {
  readonly #parts: WorkServerParts;
  #nRunning = 0;

  constructor(parts: WorkServerParts) {
    this.#parts = parts;
  }

  get nRunning(): number {
    return this.#nRunning;
  }

  async answer(request: LinkRequest): Promise<void> {
    if (request.path === PROBE_PATH) return await this.#report(request.response);
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

  async #report(response: ServerResponse): Promise<void> {
    const cards = (await this.#parts.models()?.models(WORK)) ?? [];
    const usable = cards.filter((card) => isOwn(card) && card.state !== 'inspecting' && card.state !== 'unusable');
    const report: NodeReport = { id: this.#parts.nodeId(), cards: usable, nRunning: this.#nRunning };
    response.writeHead(200, { 'content-type': 'application/json' }).end(encode(report));
  }

  async #complete({ body, response }: LinkRequest): Promise<void> {
    const { model, request, options } = decode(await body()) as CompletionWork;
    const gone = new AbortController();
    const answer = new AnswerWriter(response, this.#parts.idleMs);
    response.once('close', () => gone.abort());
    try {
      const { backend, card } = await this.#find(model);
      const running = await backend.complete(card, request, answer, { ...options, signal: gone.signal });
      await answer.follow(running);
    } catch (error) {
      answer.onError(error as Error);
      answer.onFlush();
    }
  }

  async #whole({ body, response }: LinkRequest): Promise<void> {
    const { model, method, arguments: given, options } = decode(await body()) as WholeWork;
    const gone = new AbortController();
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    // Blanks before JSON are no part of it.
    const idle = setInterval(() => response.write(' '), this.#parts.idleMs).unref();
    response.once('close', () => gone.abort());
    try {
      if (!wholeMethods.includes(method)) throw inferenceErrors.error('unsupported', `A node asks for ${String(method)}.`);
      const { backend, card } = await this.#find(model);
      const call = { ...options, signal: gone.signal };
      const work = backend[method] as ((...all: unknown[]) => Promise<unknown>) | undefined;
      const value = await work?.call(backend, card, ...given, method === 'contentHash' ? gone.signal : call);
      response.end(encode({ value }));
    } catch (error) {
      response.end(encode({ error: writtenError(error) }));
    } finally {
      clearInterval(idle);
    }
  }

  async #find(model: string) {
    const found = await this.#parts.models()?.findOwn(model);
    if (found === undefined) throw inferenceErrors.error('model_not_found', `The node has no model ${model} any more.`);
    return found;
  }
}

/** Hears an engine and writes records; a node that reads slowly has its sequence paused. */
class AnswerWriter implements CompletionSink {
  readonly isStreamed = true;
  readonly #response: ServerResponse;
  readonly #idle: NodeJS.Timeout;
  readonly #over = Promise.withResolvers<void>();
  #lines: Buffer[] = [];
  #running: BackendCompletion | undefined;
  #isPaused = false;
  #isOver = false;

  constructor(response: ServerResponse, idleMs: number) {
    this.#response = response;
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

  onStart(nPromptTokens: number, nCachedTokens: number): void {
    this.#lines.push(...recordLine.call(['onStart', nPromptTokens, nCachedTokens]));
  }

  onContent(choice: number, body: Buffer): void {
    this.#lines.push(...recordLine.content(choice, Buffer.from(body)));
  }

  onReasoning(choice: number, body: Buffer): void {
    this.#lines.push(...recordLine.reasoning(choice, Buffer.from(body)));
  }

  /** Engines of nodes sign no thoughts. */
  onReasoningDetail(): void {}

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

  onDone(usage: Parameters<CompletionSink['onDone']>[0]): void {
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

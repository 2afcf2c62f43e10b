/** Hears one round of an answer with tools: text goes on to the client, calls of the node's own tools are kept, and the end is the loop's. */
import type { FinishReason, JobUsage, TokenLogprob } from '../../../native/llama-shapes.ts';
import type { CompletionSink, ReasoningDetail, UsageRecorder } from '../../inference/index.ts';
import type { ToolCall } from '../answer/answer-collector.ts';
import type { ToolSink } from './tool-event.ts';

/** One turn of the model: its text, and the calls that it asked for. */
export interface Round {
  readonly content: string;
  readonly reasoning: string;
  readonly reasoningDetails: ReasoningDetail[] | undefined;
  /** The calls of the node's own tools. */
  readonly calls: readonly ToolCall[];
  readonly finish: FinishReason;
  readonly stopString: string;
  /** The client's own tools were called: the turn is the client's. */
  readonly isOfClient: boolean;
  readonly usage: JobUsage;
  readonly recorder: UsageRecorder | undefined;
}

export interface RoundHandlers {
  isOwn(name: string): boolean;
  ended(round: Round): void;
  failed(error: Error): void;
}

/** Bodies of JSON strings, which are decoded once at the end. */
interface RawCall {
  readonly id: string;
  readonly name: string;
  args: string;
}

export class RoundSink implements CompletionSink {
  readonly isStreamed: boolean;
  readonly #outer: ToolSink;
  readonly #handlers: RoundHandlers;
  #recorder: UsageRecorder | undefined;
  #content = '';
  #reasoning = '';
  #details: ReasoningDetail[] | undefined;
  readonly #own = new Map<number, RawCall>();
  /** The places of the client's calls, as it is told them. */
  readonly #ofClient = new Map<number, number>();
  #finish: FinishReason = 'stop';
  #stopString = '';

  constructor(outer: ToolSink, handlers: RoundHandlers) {
    this.isStreamed = outer.isStreamed;
    this.#outer = outer;
    this.#handlers = handlers;
  }

  begin(recorder: UsageRecorder): void {
    this.#recorder = recorder;
    this.#outer.begin(recorder);
  }

  onStart(nPromptTokens: number, nCachedTokens: number, model?: string): void {
    this.#outer.onStart(nPromptTokens, nCachedTokens, model);
  }

  onContent(choice: number, jsonBody: Buffer): void {
    this.#content += jsonBody.toString();
    this.#outer.onContent(choice, jsonBody);
  }

  onReasoning(choice: number, jsonBody: Buffer): void {
    this.#reasoning += jsonBody.toString();
    this.#outer.onReasoning(choice, jsonBody);
  }

  onReasoningDetail(choice: number, detail: ReasoningDetail): void {
    this.#details ??= [];
    this.#details.push(detail);
    this.#outer.onReasoningDetail(choice, detail);
  }

  onToolCall(choice: number, index: number, id: string, name: string): void {
    if (this.#handlers.isOwn(name)) {
      this.#own.set(index, { id, name, args: '' });
      return;
    }
    const place = this.#ofClient.size;
    this.#ofClient.set(index, place);
    this.#outer.onToolCall(choice, place, id, name);
  }

  onToolArguments(choice: number, index: number, jsonBody: Buffer): void {
    const own = this.#own.get(index);
    const place = this.#ofClient.get(index);
    if (place !== undefined) this.#outer.onToolArguments(choice, place, jsonBody);
    if (own === undefined) return;
    this.#recorder?.text(jsonBody.length);
    own.args += jsonBody.toString();
  }

  onLogprobs(choice: number, tokens: TokenLogprob[]): void {
    this.#outer.onLogprobs(choice, tokens);
  }

  onFinish(_choice: number, reason: FinishReason, stopString: string): void {
    this.#finish = reason;
    this.#stopString = stopString;
  }

  onDone(usage: JobUsage): void {
    this.#recorder?.completed(usage);
    this.#handlers.ended({
      content: decode(this.#content),
      reasoning: decode(this.#reasoning),
      reasoningDetails: this.#details,
      calls: this.#calls(),
      finish: this.#finish,
      stopString: this.#stopString,
      isOfClient: this.#ofClient.size > 0,
      usage,
      recorder: this.#recorder,
    });
  }

  onError(error: Error): void {
    this.#handlers.failed(error);
  }

  onFlush(): void {
    this.#outer.onFlush();
  }

  /** A call that a limit cut off within its arguments is none. */
  #calls(): ToolCall[] {
    return [...this.#own.values()].flatMap(({ id, name, args }) => {
      const text = args === '' ? '{}' : decode(args);
      return isJson(text) ? [{ id, name, arguments: text }] : [];
    });
  }
}

function decode(jsonBody: string): string {
  return JSON.parse(`"${jsonBody}"`) as string;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

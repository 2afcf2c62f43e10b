/** Gathers one completion whole, for clients that do not stream. */

import type { FinishReason, JobUsage, TokenLogprob } from '../../../native/llama-shapes.ts';
import type { ReasoningDetail, RunningCompletion, UsageRecorder } from '../../inference/index.ts';
import { completionFailure } from '../declared-errors.ts';
import { completionError } from '../errors.ts';
import { type ToolEvent, ToolEvents, type ToolSink } from '../tools/tool-event.ts';
import { ArgumentGuard } from './stream-session.ts';

export interface ToolCall {
  id: string;
  name: string;
  /** JSON text. */
  arguments: string;
}

export interface Choice {
  content: string;
  reasoning: string;
  reasoningDetails?: ReasoningDetail[];
  toolCalls: ToolCall[];
  logprobs: TokenLogprob[] | undefined;
  finish: FinishReason;
  /** The text that matched when a stop string ended the choice, else the empty string. */
  stopString: string;
}

export interface Answer {
  choices: Choice[];
  usage: JobUsage;
  /** What answered, where it has another name than the model that was chosen. */
  model?: string;
  /** The node's own tools that ran for it. */
  toolEvents?: readonly ToolEvent[];
}

/** Gathers JSON string bodies, which are decoded once at the end. */
interface RawChoice {
  content: string;
  reasoning: string;
  reasoningDetails?: ReasoningDetail[];
  toolCalls: { id: string; name: string; arguments: string }[];
  logprobs: TokenLogprob[] | undefined;
  finish: FinishReason;
  stopString: string;
}

export class AnswerCollector implements ToolSink {
  readonly isStreamed = false;
  readonly answer: Promise<Answer>;
  readonly #choices: RawChoice[];
  readonly #guard = new ArgumentGuard();
  #usage: UsageRecorder | undefined;
  #job: RunningCompletion | undefined;
  #isRefused = false;
  #model: string | undefined;
  readonly #toolEvents = new ToolEvents();
  #resolve!: (answer: Answer) => void;
  #reject!: (error: Error) => void;

  constructor(nChoices: number) {
    this.#choices = Array.from({ length: nChoices }, () => emptyChoice());
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.answer.catch(() => {});
  }

  begin(usage: UsageRecorder): void {
    this.#usage = usage;
  }

  /** Ends the job with its client; the answer then never comes. */
  bind(job: RunningCompletion, signal: AbortSignal): void {
    this.#job = job;
    if (this.#isRefused) job.cancel();
    const leave = () => {
      job.cancel();
      this.#reject(completionError('client_closed', 'The client went away.'));
    };
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
    this.answer.finally(() => signal.removeEventListener('abort', leave)).catch(() => {});
  }

  onStart(nPromptTokens: number, _nCachedTokens?: number, model?: string): void {
    this.#model = model;
    this.#usage?.started(nPromptTokens);
    this.#refuseIfNeeded();
  }

  onContent(choice: number, jsonBody: Buffer): void {
    this.#usage?.text(jsonBody.length);
    this.#at(choice).content += jsonBody.toString();
  }

  onReasoning(choice: number, jsonBody: Buffer): void {
    this.#usage?.text(jsonBody.length);
    this.#at(choice).reasoning += jsonBody.toString();
  }

  onReasoningDetail(choice: number, detail: ReasoningDetail): void {
    const raw = this.#at(choice);
    raw.reasoningDetails ??= [];
    raw.reasoningDetails.push(detail);
  }

  onToolCall(choice: number, index: number, id: string, name: string): void {
    this.#complete(choice);
    this.#guard.started(choice, index);
    this.#at(choice).toolCalls[index] = { id, name, arguments: '' };
  }

  onToolArguments(choice: number, index: number, jsonBody: Buffer): void {
    this.#usage?.text(jsonBody.length);
    this.#guard.received(choice);
    const call = this.#at(choice).toolCalls[index];
    if (call) call.arguments += jsonBody.toString();
  }

  onLogprobs(choice: number, tokens: TokenLogprob[]): void {
    const raw = this.#at(choice);
    raw.logprobs ??= [];
    raw.logprobs.push(...tokens);
  }

  onToolEvent(event: ToolEvent): void {
    this.#toolEvents.add(event);
  }

  onFinish(choice: number, reason: FinishReason, stopString: string): void {
    const raw = this.#at(choice);
    if (reason === 'tool_calls') this.#complete(choice);
    else dropCutCall(raw);
    Object.assign(raw, { finish: reason, stopString });
  }

  onDone(usage: JobUsage): void {
    this.#usage?.completed(usage);
    const recorded = this.#usage?.whenRecorded() ?? Promise.resolve();
    const answer = (): void =>
      this.#resolve({
        choices: this.#choices.map(decodeChoice),
        usage,
        ...(this.#model !== undefined && { model: this.#model }),
        ...(this.#toolEvents.list !== undefined && { toolEvents: this.#toolEvents.list }),
      });
    recorded.then(answer, (error: Error) => this.#reject(error));
  }

  onError(error: Error): void {
    const failure = completionFailure(error);
    this.#usage?.failed(failure.code);
    this.#reject(failure);
  }

  onFlush(): void {
    this.#usage?.isCovered();
    this.#refuseIfNeeded();
    this.#usage?.flushed();
  }

  /** A quota is used up: the work may not go on. */
  #refuseIfNeeded(): void {
    const refusal = this.#usage?.refusal;
    if (refusal === undefined || this.#isRefused) return;
    const failure = completionFailure(refusal);
    this.#isRefused = true;
    this.#usage?.failed(failure.code);
    this.#job?.cancel();
    this.#reject(failure);
  }

  #complete(choice: number): void {
    this.#guard.complete(choice, (index, jsonBody) => this.onToolArguments(choice, index, jsonBody));
  }

  #at(choice: number): RawChoice {
    const raw = this.#choices[choice];
    if (!raw) throw new RangeError(`the engine reported choice ${choice} of ${this.#choices.length}`);
    return raw;
  }
}

/** What a limit or the model's end cut off within its arguments is no call. */
function dropCutCall({ toolCalls }: RawChoice): void {
  const last = toolCalls.at(-1);
  if (last !== undefined && !isJson(decode(last.arguments))) toolCalls.pop();
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function emptyChoice(): RawChoice {
  return { content: '', reasoning: '', toolCalls: [], logprobs: undefined, finish: 'stop', stopString: '' };
}

function decodeChoice(raw: RawChoice): Choice {
  return {
    ...raw,
    content: decode(raw.content),
    reasoning: decode(raw.reasoning),
    toolCalls: raw.toolCalls.map((call) => ({ ...call, arguments: decode(call.arguments) })),
  };
}

/** Body of a JSON string -> the text. */
function decode(jsonBody: string): string {
  return JSON.parse(`"${jsonBody}"`) as string;
}

/** An answer in rounds: the model says something and calls tools, the node runs them, and the model goes on with what came of it. */
import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { JobUsage, ProviderUse } from '../../../native/llama-shapes.ts';
import type { RunBudget } from '../../edge/index.ts';
import type { CallOptions, ChatPrompt, CompletionRequest, InferenceService, RunningCompletion } from '../../inference/index.ts';
import type { ModelledAnswer } from '../answer/pending-answer.ts';
import type { Members } from '../compat/members.ts';
import { promptMessages } from '../prompt-messages.ts';
import type { AnswerTools } from './answer-tools.ts';
import { type Round, RoundSink } from './round-sink.ts';
import { ToolCalls } from './tool-calls.ts';
import type { ToolSink } from './tool-event.ts';
import { messagesOf, resultMessage } from './tool-messages.ts';

export class ToolLoop {
  readonly #inference: Pick<InferenceService, 'complete'>;
  readonly #answer: ModelledAnswer;
  readonly #tools: AnswerTools;
  readonly #sink: ToolSink;
  readonly #options: CallOptions;
  readonly #budget: RunBudget;
  readonly #calls: ToolCalls;
  readonly #stopped = new AbortController();
  readonly #startedAt = performance.now();
  #request: CompletionRequest;
  #messages: Members[];
  #usage: JobUsage | undefined;
  #job: RunningCompletion | undefined;
  #isPaused = false;
  /** The model must call a tool in this round. */
  #isForced: boolean;
  /** The model has its one turn without tools. */
  #isLast = false;

  constructor(
    inference: Pick<InferenceService, 'complete'>,
    answer: ModelledAnswer,
    tools: AnswerTools,
    sink: ToolSink,
    options: CallOptions,
  ) {
    this.#inference = inference;
    this.#answer = answer;
    this.#tools = tools;
    this.#sink = sink;
    this.#options = options;
    this.#budget = tools.runs.newBudget(tools.hosted?.mostCalls);
    this.#request = answer.request;
    this.#isForced = tools.hosted?.isForced === true;
    this.#messages = promptMessages(promptOf(answer.request).messagesJson, 'with tools');
    this.#calls = new ToolCalls({
      tools,
      asker: answer.asker,
      run: randomUUID(),
      conversation: answer.call.conversation?.id,
      budget: this.#budget,
      signal: AbortSignal.any([options.signal, this.#stopped.signal]),
      tell: (event) => this.#sink.onToolEvent(event),
    });
  }

  /** Resolves when the first round is queued, or before the calls that are made before it. */
  async start(): Promise<RunningCompletion> {
    if (this.#tools.approved.length === 0) await this.#round();
    else void this.#goOn().catch((error: Error) => this.#fail(error));
    return {
      cancel: () => {
        this.#stopped.abort();
        this.#job?.cancel();
      },
      pause: () => {
        this.#isPaused = true;
        this.#job?.pause();
      },
      resume: () => {
        this.#isPaused = false;
        this.#job?.resume();
      },
    };
  }

  /** Makes what the client approved first: it takes the place that was kept for it in the messages. */
  async #goOn(): Promise<void> {
    // Whoever waits for events has to have the handle first.
    await setImmediate();
    const results = await this.#calls.runApproved(this.#tools.approved);
    if (this.#stopped.signal.aborted) return;
    const made = new Map(results.map((result) => [result.id, resultMessage(result)]));
    this.#messages = this.#messages.map((message) => made.get(String(message['tool_call_id'])) ?? message);
    if (this.#budget.spent !== undefined) this.#leaveTools();
    await this.#round();
  }

  async #round(): Promise<void> {
    const { model } = this.#answer;
    const sink = new RoundSink(this.#sink, {
      isOwn: (name) => this.#tools.offered.has(name),
      ended: (round) => void this.#ended(round).catch((error: Error) => this.#fail(error)),
      failed: (error) => this.#fail(error),
    });
    const messagesJson = JSON.stringify(this.#messages);
    const { job } = this.#request;
    const prompt: ChatPrompt = { ...promptOf(this.#request), messagesJson };
    if (this.#isForced && !this.#isLast) prompt.toolChoice = 'required';
    const request = { ...this.#request, job: { ...job, prompt } };
    const running = await this.#inference.complete(model, request, sink, this.#optionsOfRound());
    this.#job = running;
    if (this.#stopped.signal.aborted) running.cancel();
    else if (this.#isPaused) running.pause();
  }

  /** The time that the client gives is for all rounds. */
  #optionsOfRound(): CallOptions {
    const { timeoutMs } = this.#options;
    if (timeoutMs === undefined) return this.#options;
    return { ...this.#options, timeoutMs: Math.max(1, timeoutMs - (performance.now() - this.#startedAt)) };
  }

  async #ended(round: Round): Promise<void> {
    const { usage, calls, recorder } = round;
    this.#usage = this.#usage === undefined ? usage : sumOf(this.#usage, usage);
    this.#budget.round({ nTokens: usage.nPromptTokens + usage.nCompletionTokens, costMicros: usage.provider?.costMicros ?? 0 });
    if (calls.length === 0 || round.isOfClient || this.#isLast) {
      this.#finish(round);
      return;
    }
    // What the round said may be sent once its use is on disk; the next round has a record of its own.
    await recorder?.whenRecorded();
    this.#sink.onFlush();
    const results = await this.#calls.run(calls);
    if (this.#stopped.signal.aborted) return;
    if (results.some(({ isSuspended }) => isSuspended)) {
      this.#finish(round);
      return;
    }
    this.#messages = [...this.#messages, ...messagesOf(round, results)];
    this.#isForced = false;
    if (!this.#takeTokens(usage.nCompletionTokens)) {
      this.#finish({ ...round, finish: 'length', stopString: '' });
      return;
    }
    if (this.#budget.spent !== undefined) this.#leaveTools();
    await this.#round();
  }

  /** False: the answer has as many tokens as its client allows. */
  #takeTokens(nTokens: number): boolean {
    const { job } = this.#request;
    if (job.maxTokens === undefined) return true;
    const maxTokens = job.maxTokens - nTokens;
    this.#request = { ...this.#request, job: { ...job, maxTokens } };
    return maxTokens > 0;
  }

  /** A limit is reached: the model has one turn in which it calls nothing. */
  #leaveTools(): void {
    this.#isLast = true;
    const { job } = this.#request;
    const { toolSchemas: _schemas, ...rest } = job;
    this.#request = { ...this.#request, job: { ...rest, prompt: { ...promptOf(this.#request), toolChoice: 'none' } } };
  }

  /** A turn in which nothing may be called ends by itself, whatever the model wrote. */
  #finish({ finish, stopString, isOfClient }: Round): void {
    const reason = finish === 'tool_calls' && !isOfClient ? 'stop' : finish;
    this.#sink.onFinish(0, reason, stopString);
    if (this.#usage !== undefined) this.#sink.onDone(this.#usage);
    this.#sink.onFlush();
  }

  #fail(error: Error): void {
    if (this.#stopped.signal.aborted) return;
    this.#sink.onError(error);
    this.#sink.onFlush();
  }
}

function promptOf({ job }: CompletionRequest): ChatPrompt {
  if (job.prompt.kind === 'chat') return job.prompt;
  throw new TypeError('an answer without messages runs tools');
}

function sumOf(a: JobUsage, b: JobUsage): JobUsage {
  const provider = providerOf(a.provider, b.provider);
  return {
    nPromptTokens: a.nPromptTokens + b.nPromptTokens,
    nCachedTokens: a.nCachedTokens + b.nCachedTokens,
    nCompletionTokens: a.nCompletionTokens + b.nCompletionTokens,
    queueMs: a.queueMs + b.queueMs,
    prefillMs: a.prefillMs + b.prefillMs,
    decodeMs: a.decodeMs + b.decodeMs,
    nDraftedTokens: a.nDraftedTokens + b.nDraftedTokens,
    nAcceptedTokens: a.nAcceptedTokens + b.nAcceptedTokens,
    ...(provider !== undefined && { provider }),
  };
}

/** The sum is not known where one round is not. */
function providerOf(a: ProviderUse | undefined, b: ProviderUse | undefined): ProviderUse | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return {
    backend: b.backend,
    nReasoningTokens: a.nReasoningTokens + b.nReasoningTokens,
    nCacheWrite5mTokens: a.nCacheWrite5mTokens + b.nCacheWrite5mTokens,
    nCacheWrite1hTokens: a.nCacheWrite1hTokens + b.nCacheWrite1hTokens,
    nAudioTokens: a.nAudioTokens + b.nAudioTokens,
    nImageTokens: a.nImageTokens + b.nImageTokens,
    costMicros: a.costMicros === undefined || b.costMicros === undefined ? undefined : a.costMicros + b.costMicros,
    currency: b.currency,
    isEstimated: a.isEstimated || b.isEstimated,
  };
}

/** Chooses the model and the backend for each request and hands the work over, measured. */
import type { EmbedResult, RankResult } from '../../native/llama.ts';
import type {
  CallOptions,
  ChatPrompt,
  CompletionRequest,
  CompletionSink,
  InferenceBackend,
  ModelCard,
  RunningCompletion,
  TokenizeFlags,
} from './backend.ts';
import { BudgetedSink } from './budgeted-sink.ts';
import { clientError, refusal } from './errors.ts';
import { MeteredSink } from './metered-sink.ts';
import type { InferenceMetrics } from './metrics.ts';
import { findModel } from './model-name.ts';
import { estimatePromptTokens, estimateTextTokens } from './prompt-estimate.ts';
import { type Needs, type Selection, selectChatModel, selectExactModel } from './selection.ts';

import type { TokenBudgets } from './token-budgets.ts';

export interface ServiceOptions {
  backends: readonly InferenceBackend[];
  /** Id of the model that answers when the one asked for is not there; known once the node has started. */
  defaultModel: () => string | undefined;
  metrics: InferenceMetrics;
  budgets: TokenBudgets;
  /** Whether a tenant's requests may go before those of others; undefined: every tenant's may. */
  allowsPriority?: ((tenant: string) => boolean) | undefined;
  /** For completions that name no limit of their own; undefined for none. */
  requestTimeoutMs?: number | undefined;
}

export class InferenceService {
  readonly #backends: readonly InferenceBackend[];
  readonly #defaultModel: () => string | undefined;
  readonly #metrics: InferenceMetrics;
  readonly #budgets: TokenBudgets;
  readonly #allowsPriority: (tenant: string) => boolean;
  readonly #defaultLimits: Pick<CallOptions, 'timeoutMs'>;

  constructor({ backends, defaultModel, metrics, budgets, allowsPriority, requestTimeoutMs }: ServiceOptions) {
    this.#backends = backends;
    this.#defaultModel = defaultModel;
    this.#metrics = metrics;
    this.#budgets = budgets;
    this.#allowsPriority = allowsPriority ?? (() => true);
    this.#defaultLimits = requestTimeoutMs === undefined ? {} : { timeoutMs: requestTimeoutMs };
  }

  async models(): Promise<ModelCard[]> {
    const lists = await Promise.all(this.#backends.map((backend) => backend.models()));
    return lists.flat();
  }

  async findModel(name: string): Promise<ModelCard | undefined> {
    return findModel(await this.models(), name);
  }

  /** Throws model_cannot_tool_call, model_not_found, unsupported, or the unavailableReason when no backend works at all. */
  async select(needs: Needs): Promise<Selection> {
    this.#requireBackend();
    return selectChatModel(await this.models(), needs, this.#defaultModel());
  }

  /** Resolves when the job is queued; what follows arrives at the sink. */
  async complete(
    model: string,
    request: CompletionRequest,
    sink: CompletionSink,
    options: CallOptions,
  ): Promise<RunningCompletion> {
    const backend = await this.#backendOf(model);
    const metrics = this.#metrics.forModel(model);
    const { job } = request;
    const lacksPriority = (job.priority ?? 0) > 0 && !this.#allowsPriority(options.tenant);
    const admitted = lacksPriority ? { ...request, job: { ...job, priority: 0 } } : request;
    const nMost = job.maxTokens === undefined ? undefined : job.maxTokens * (job.n ?? 1);
    const budget = this.#budgets.reserve(options.tenant, estimatePromptTokens(job.prompt), nMost);
    try {
      const budgeted = new BudgetedSink(new MeteredSink(sink, metrics), budget);
      return budgeted.watch(await backend.complete(model, admitted, budgeted, { ...this.#defaultLimits, ...options }));
    } catch (error) {
      budget.reconcile(0, 0);
      metrics.failed(clientError(error).code);
      throw error;
    }
  }

  async embed(name: string, inputs: (string | Int32Array)[], options: CallOptions): Promise<EmbedResult & { model: string }> {
    const model = await this.#selectExact(name, 'embeddings');
    const backend = await this.#backendOf(model);
    return this.#spend(model, options.tenant, estimateTextTokens(inputs), () => backend.embed(model, inputs, options));
  }

  async rank(name: string, query: string, documents: string[], options: CallOptions): Promise<RankResult & { model: string }> {
    const model = await this.#selectExact(name, 'rerank');
    const backend = await this.#backendOf(model);
    const nEstimated = estimateTextTokens(documents) + documents.length * estimateTextTokens([query]);
    return this.#spend(model, options.tenant, nEstimated, () => backend.rank(model, query, documents, options));
  }

  async countTokens(model: string, prompt: ChatPrompt, options: CallOptions): Promise<number> {
    return (await this.#backendOf(model)).countTokens(model, prompt, options);
  }

  async tokenize(name: string | undefined, text: string, flags: TokenizeFlags, options: CallOptions): Promise<Int32Array> {
    const model = await this.#selectTokenizer(name);
    return (await this.#backendOf(model)).tokenize(model, text, flags, options);
  }

  async detokenize(name: string | undefined, tokens: Int32Array, options: CallOptions): Promise<string> {
    const model = await this.#selectTokenizer(name);
    return (await this.#backendOf(model)).detokenize(model, tokens, options);
  }

  /** Work that takes prompt tokens alone. */
  async #spend<R extends { nTokens: number[] }>(
    model: string,
    tenant: string,
    nEstimated: number,
    work: () => Promise<R>,
  ): Promise<R & { model: string }> {
    const budget = this.#budgets.reserve(tenant, nEstimated, 0);
    try {
      const result = await work();
      const nTokens = sum(result.nTokens);
      budget.reconcile(nTokens, 0);
      this.#metrics.countPrompt(model, nTokens);
      return { ...result, model };
    } finally {
      budget.reconcile(0, 0);
    }
  }

  async #selectExact(name: string, ability: 'embeddings' | 'rerank'): Promise<string> {
    this.#requireBackend();
    return selectExactModel(await this.models(), name, ability).id;
  }

  /** Tokens of another model would be wrong, so a named model must be there; without a name it is the one that chats. */
  async #selectTokenizer(name: string | undefined): Promise<string> {
    this.#requireBackend();
    if (name === undefined)
      return (await this.select({ model: this.#defaultModel() ?? '', needsTools: false, needsVision: false })).card.id;
    const card = findModel(await this.models(), name);
    if (card && card.state !== 'unusable') return card.id;
    throw refusal('model_not_found', `No usable model is named ${name}; GET /v1/models lists those that are.`, {
      param: 'model',
    });
  }

  #requireBackend(): void {
    const reasons = this.#backends.map((backend) => backend.unavailableReason());
    const [first] = reasons;
    if (first && reasons.every((unavailableReason) => unavailableReason !== undefined)) throw first;
  }

  async #backendOf(model: string): Promise<InferenceBackend> {
    const [only] = this.#backends;
    if (only && this.#backends.length === 1) return only;
    for (const backend of this.#backends) {
      if (!backend.unavailableReason() && (await backend.models()).some((card) => card.id === model)) return backend;
    }
    throw refusal('model_not_found', `The model ${model} went away.`, { param: 'model' });
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

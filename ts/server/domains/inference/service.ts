/** Chooses the model of each request, hands the work to the backend that has it, and records what it used. */
import type { EmbedResult, RankResult, Text } from '../../native/llama-shapes.ts';
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
import { inferenceFailure } from './failure.ts';
import { type ModelNeeds, type Selection, selectModel } from './models/selection.ts';
import { type InferenceMetrics, type Operation, promptUsage } from './usage/metrics.ts';
import { estimatePromptTokens, estimateTextTokens } from './usage/prompt-estimate.ts';
import type { TokenBudgets } from './usage/token-budgets.ts';
import { UsageRecorder } from './usage/usage-recorder.ts';

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

/** A model with the backend that runs it. */
interface Offer {
  backend: InferenceBackend;
  card: ModelCard;
}

/** The model that answers a request, found once; everything else goes by it. */
export type ResolvedModel = Selection<Offer>;

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

  /** Throws what selectModel() does, or the unavailableReason when no backend works at all. */
  async resolve(needs: ModelNeeds): Promise<ResolvedModel> {
    const offers = await Promise.all(
      this.#usableBackends().map((backend) => offersOf(backend, needs.model ?? this.#defaultModel() ?? '')),
    );
    return selectModel(offers.flat(), needs, this.#defaultModel());
  }

  /** Resolves when the job is queued; what follows arrives at the sink. */
  complete(
    model: ResolvedModel,
    request: CompletionRequest,
    sink: CompletionSink,
    options: CallOptions,
  ): Promise<RunningCompletion> {
    const { backend, card } = model;
    const { job } = request;
    const nMost = job.maxTokens === undefined ? undefined : job.maxTokens * (job.n ?? 1);
    return this.#record(model, 'chat', async (usage) => {
      this.#reserveTokens(usage, options.tenant, estimatePromptTokens(job.prompt), nMost);
      sink.begin(usage);
      const limits = { ...this.#defaultLimits, ...options };
      const running = await backend.complete(card, this.#withAllowedPriority(request, options.tenant), sink, limits);
      usage.onEnd(() => running.release());
      return {
        cancel: () => {
          running.cancel();
          usage.failed('client_closed');
        },
        pause: () => running.pause(),
        resume: () => running.resume(),
      };
    });
  }

  embed(model: ResolvedModel, inputs: (Text | Int32Array)[], options: CallOptions): Promise<EmbedResult> {
    return this.#record(model, 'embeddings', async (usage) => {
      this.#reserveTokens(usage, options.tenant, estimateTextTokens(inputs), 0);
      const result = await model.backend.embed(model.card, inputs, options);
      usage.completed(promptUsage(result.nTokens));
      return result;
    });
  }

  rank(model: ResolvedModel, query: Text, documents: Text[], options: CallOptions): Promise<RankResult> {
    return this.#record(model, 'rerank', async (usage) => {
      const nEstimate = estimateTextTokens(documents) + documents.length * estimateTextTokens([query]);
      this.#reserveTokens(usage, options.tenant, nEstimate, 0);
      const result = await model.backend.rank(model.card, query, documents, options);
      usage.completed(promptUsage(result.nTokens));
      return result;
    });
  }

  countTokens(model: ResolvedModel, prompt: ChatPrompt, options: CallOptions): Promise<number> {
    return this.#tokens(model, () => model.backend.countTokens(model.card, prompt, options));
  }

  tokenize(model: ResolvedModel, text: Text, flags: TokenizeFlags, options: CallOptions): Promise<Int32Array> {
    return this.#tokens(model, () => model.backend.tokenize(model.card, text, flags, options));
  }

  /** A text for each list of token ids. */
  detokenize(model: ResolvedModel, lists: readonly Int32Array[], options: CallOptions): Promise<string[]> {
    return this.#tokens(model, async () => {
      const texts: string[] = [];
      for (const tokens of lists) texts.push(await model.backend.detokenize(model.card, tokens, options));
      return texts;
    });
  }

  /** Work of the tokenizer alone takes nothing of a tenant's tokens. */
  #tokens<T>(model: ResolvedModel, work: () => Promise<T>): Promise<T> {
    return this.#record(model, 'tokenize', async (usage) => {
      const result = await work();
      usage.completed(promptUsage([]));
      return result;
    });
  }

  /** Every way to run a model goes through here: what fails is counted, freed, and thrown as an error of this module. */
  async #record<T>({ card }: ResolvedModel, operation: Operation, work: (usage: UsageRecorder) => Promise<T>): Promise<T> {
    const usage = new UsageRecorder(this.#metrics.of(card.id, operation));
    try {
      return await work(usage);
    } catch (error) {
      const failure = inferenceFailure(error);
      usage.failed(failure.code);
      throw failure;
    }
  }

  #reserveTokens(usage: UsageRecorder, tenant: string, nPromptEstimate: number, nMost: number | undefined): void {
    const reservation = this.#budgets.reserve(tenant, nPromptEstimate, nMost);
    usage.onEnd((nPrompt, nCompletion) => reservation.reconcile(nPrompt, nCompletion));
  }

  #withAllowedPriority(request: CompletionRequest, tenant: string): CompletionRequest {
    const { job } = request;
    const isAllowed = (job.priority ?? 0) <= 0 || this.#allowsPriority(tenant);
    return isAllowed ? request : { ...request, job: { ...job, priority: 0 } };
  }

  #usableBackends(): InferenceBackend[] {
    const usable = this.#backends.filter((backend) => backend.unavailableReason() === undefined);
    const reason = usable.length === 0 ? this.#backends[0]?.unavailableReason() : undefined;
    if (reason) throw reason;
    return usable;
  }
}

/** A model whose file is still being inspected answers nobody. */
async function offersOf(backend: InferenceBackend, asked: string): Promise<Offer[]> {
  const cards = await backend.models(asked);
  return cards.filter(({ state }) => state !== 'inspecting').map((card) => ({ backend, card }));
}

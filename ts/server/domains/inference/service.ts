/** Chooses the model of each request, hands the work to the backend that has it, and records what it used. */
import type { EmbedResult, JobUsage, RankResult, Text } from '../../native/llama-shapes.ts';
import { DomainError } from '../../platform/errors/domain-error.ts';
import type { Principal } from '../../platform/http/principal.ts';
import { anyName, type NameFilter, NO_LIMITS, type UseRules } from '../../platform/module/use-rules.ts';
import type { MeteredWork, MeteringApi } from '../metering/index.ts';
import type {
  BackendCompletion,
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
import { type ModelNeeds, type ModelUser, permittedOffers, type Selection, selectModel } from './models/selection.ts';
import { type InferenceMetrics, type Operation, promptUsage } from './usage/metrics.ts';
import { estimatePromptTokens, estimateTextTokens } from './usage/prompt-estimate.ts';
import { type PromptMeter, promptMeter } from './usage/prompt-meter.ts';
import { UsageRecorder } from './usage/usage-recorder.ts';

export interface ServiceOptions {
  /** The model that answers when the one asked for is not there; no id: none is installed. */
  defaultModel: { readonly id: string | undefined };
  metrics: InferenceMetrics;
  metering: MeteringApi;
  /** Whether a tenant's requests may go before those of others; undefined: every tenant's may. */
  allowsPriority?: ((tenant: string) => boolean) | undefined;
  /** The rules that say which models a caller may use; undefined: everybody may use all. */
  uses?: UseRules | undefined;
  /** The limit of completions that name none of their own; undefined for none. */
  requestTimeoutMs?: number | undefined;
}

/** Of an answer of a model without a chat template, where the request does not say otherwise. */
const MOST_COMPLETION_TOKENS = 512;

/** A model with the backend that runs it. */
interface Offer {
  backend: InferenceBackend;
  card: ModelCard;
}

/** The caller of a request. `work`: the node works for itself, or goes on with what a caller was allowed before. */
export type Caller = Principal | ({ kind: 'work' } & ModelUser);

/** The model that answers a request, found once; everything else goes by it. */
export type ResolvedModel = Selection<Offer>;

export class InferenceService {
  #backends: readonly InferenceBackend[] = [];
  readonly #default: ServiceOptions['defaultModel'];
  readonly #metrics: InferenceMetrics;
  readonly #metering: MeteringApi;
  readonly #allowsPriority: (tenant: string) => boolean;
  readonly #uses: UseRules;
  readonly #defaultLimits: Pick<CallOptions, 'timeoutMs'>;

  constructor({ defaultModel, metrics, metering, allowsPriority, uses, requestTimeoutMs }: ServiceOptions) {
    this.#default = defaultModel;
    this.#metrics = metrics;
    this.#metering = metering;
    this.#allowsPriority = allowsPriority ?? (() => true);
    this.#uses = uses ?? NO_LIMITS;
    this.#defaultLimits = requestTimeoutMs === undefined ? {} : { timeoutMs: requestTimeoutMs };
  }

  /** Undefined: none is installed. */
  get defaultModel(): string | undefined {
    return this.#default.id;
  }

  /**
   * Its models can be asked from now on, behind those of the backends before. Returns what takes it out again: answers that it has begun go on,
   * and requests to come do not find its models.
   */
  addBackend(backend: InferenceBackend): () => void {
    this.#backends = [...this.#backends, backend];
    return () => {
      this.#backends = this.#backends.filter((each) => each !== backend);
    };
  }

  /** A model that this node has itself, by its exact name. */
  async findOwn(id: string): Promise<ResolvedModel | undefined> {
    const offers = await Promise.all(this.#backends.map((backend) => offersOf(backend, id)));
    const found = offers.flat().find(({ card }) => card.id === id && isOwn(card));
    return found && { ...found, isSubstitute: false };
  }

  /** A model that this node has itself, or whose provider it has the key of: whatever it does not ask another node for. */
  async findHere(id: string): Promise<ResolvedModel | undefined> {
    const offers = await Promise.all(this.#backends.map((backend) => offersOf(backend, id)));
    const found = offers.flat().find(({ card }) => card.id === id && isHere(card));
    return found && { ...found, isSubstitute: false };
  }

  /** The same of one that chats, for what answers in the place of a provider. */
  async findLocal(id: string): Promise<ResolvedModel | undefined> {
    const found = await this.findOwn(id);
    return found?.card.capabilities.chat === true ? found : undefined;
  }

  /** Those that the caller may use. */
  async models(caller: Caller): Promise<ModelCard[]> {
    const lists = await Promise.all(this.#backends.map((backend) => backend.models()));
    const isAllowed = await this.allowedModels(caller);
    const cards = lists.flat();
    const here = new Set(cards.filter(isHere).map(({ id }) => id));
    const elsewhere = new Set(cards.flatMap(({ id, nodes }) => (nodes === undefined ? [] : [id])));
    const isListed = (card: ModelCard): boolean =>
      card.nodes === undefined ? isHere(card) || !elsewhere.has(card.id) : !here.has(card.id);
    return cards.filter((card) => isListed(card) && isAllowed(card.id) && isOfTenant(card, caller));
  }

  /** The same, each with the names of all nodes that have it, where there are several. */
  async modelsOfNodes(caller: Caller, ownName: string): Promise<ModelCard[]> {
    const lists = await Promise.all(this.#backends.map((backend) => backend.models()));
    const others = new Map(lists.flat().flatMap(({ id, nodes }) => (nodes === undefined ? [] : [[id, nodes] as const])));
    const cards = await this.models(caller);
    if (others.size === 0) return cards;
    return cards.map((card) => (isHere(card) ? { ...card, nodes: [ownName, ...(others.get(card.id) ?? [])] } : card));
  }

  /**
   * A model that the caller may not use is like one that is not there; one that its credential is not for is refused. Throws what
   * selectModel() and permittedOffers() do, or why a backend does not work where none of the others has the model.
   */
  async resolve(needs: ModelNeeds, caller: Caller): Promise<ResolvedModel> {
    const offers = await Promise.all(
      this.#usableBackends().map((backend) => offersOf(backend, needs.model ?? this.#default.id ?? '')),
    );
    // The credential's own list is left out here: what is missing in it alone is refused, and not answered by another model.
    const { models: permitted, ...others } = caller.limits ?? {};
    const isAllowed = await this.allowedModels({ ...caller, limits: others });
    const all = ownFirst(offers.flat()).filter(({ card }) => isOfTenant(card, caller));
    const allowed = isAllowed === anyName ? all : all.filter(({ card }) => isAllowed(card.id));
    try {
      return selectModel(permittedOffers(allowed, needs.model, permitted), needs, this.#default.id);
    } catch (error) {
      const isMissing = error instanceof DomainError && error.code === 'model_not_found';
      throw (isMissing ? this.#unavailableReason(needs.model) : undefined) ?? error;
    }
  }

  /** The one place that asks which models its groups and its credential leave to a caller. */
  allowedModels(caller: Caller): NameFilter | Promise<NameFilter> {
    return caller.kind === 'work' ? anyName : this.#uses.of(caller, 'models');
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
    // Nothing ends what a model without a chat template writes.
    if (card.capabilities.completion) job.maxTokens ??= MOST_COMPLETION_TOKENS;
    const nContext = card.nCtxRequest ?? card.nCtxTrain ?? Number.POSITIVE_INFINITY;
    const nMost = job.maxTokens === undefined ? undefined : Math.min(job.maxTokens, nContext) * (job.n ?? 1);
    return this.#record(model, 'chat', async (usage) => {
      const nPromptEstimate = estimatePromptTokens(job.prompt);
      await this.#meter(usage, model, options, { operation: 'chat', nPromptEstimate, nMost, isStreamed: sink.isStreamed });
      sink.begin(usage);
      const limits = { ...this.#defaultLimits, ...options };
      const running = request.isSilenced?.(card)
        ? answerSilently(sink, job.n ?? 1)
        : await backend.complete(card, this.#withAllowedPriority(request, options.tenant), sink, limits);
      usage.estimateBy(running.used?.bind(running));
      usage.onEnd(() => running.release());
      return {
        cancel: () => {
          running.cancel();
          const drained = running.whenDrained?.();
          if (drained === undefined) usage.failed('client_closed');
          else void drained.then(() => usage.failed('client_closed'));
        },
        pause: () => running.pause(),
        resume: () => running.resume(),
      };
    });
  }

  embed(model: ResolvedModel, inputs: (Text | Int32Array)[], options: CallOptions): Promise<EmbedResult> {
    return this.#record(model, 'embeddings', async (usage) => {
      await this.#meter(usage, model, options, wholeAnswer('embeddings', estimateTextTokens(inputs)));
      const result = await model.backend.embed(model.card, inputs, options);
      usage.completed(promptUsage(result.nTokens, result.provider));
      await usage.whenRecorded();
      return result;
    });
  }

  rank(model: ResolvedModel, query: Text, documents: Text[], options: CallOptions): Promise<RankResult> {
    return this.#record(model, 'rerank', async (usage) => {
      const nEstimate = estimateTextTokens(documents) + documents.length * estimateTextTokens([query]);
      await this.#meter(usage, model, options, wholeAnswer('rerank', nEstimate));
      const result = await model.backend.rank(model.card, query, documents, options);
      usage.completed(promptUsage(result.nTokens, result.provider));
      await usage.whenRecorded();
      return result;
    });
  }

  /** For whoever fills the prompt of a completion: how much fits, as the model counts. */
  meter(model: ResolvedModel, options: CallOptions): PromptMeter {
    return promptMeter(model, options);
  }

  countTokens(model: ResolvedModel, prompt: ChatPrompt, options: CallOptions): Promise<number> {
    return this.#tokens(model, () => model.backend.countTokens(model.card, prompt, options));
  }

  tokenize(model: ResolvedModel, text: Text, flags: TokenizeFlags, options: CallOptions): Promise<Int32Array> {
    return this.#tokens(model, () => model.backend.tokenize(model.card, text, flags, options));
  }

  /** SHA-256 of the model's file, by which what was measured of it is kept; undefined: it is not of this node. */
  async contentHash({ backend, card }: ResolvedModel, signal: AbortSignal): Promise<string | undefined> {
    return await backend.contentHash?.(card, signal);
  }

  /** A text for each list of token ids. */
  detokenize(model: ResolvedModel, lists: readonly Int32Array[], options: CallOptions): Promise<string[]> {
    return this.#tokens(model, async () => {
      const texts: string[] = [];
      for (const tokens of lists) texts.push(await model.backend.detokenize(model.card, tokens, options));
      return texts;
    });
  }

  /** Work of the tokenizer alone is not metered. */
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
      const failure = inferenceFailure(error, operation === 'rerank' ? 'documents' : 'input');
      usage.failed(failure.code);
      throw failure;
    }
  }

  /** Throws what a quota refuses with. */
  async #meter(
    usage: UsageRecorder,
    { card }: ResolvedModel,
    { tenant, user, key, announce }: CallOptions,
    work: Omit<MeteredWork, 'model' | 'announce'>,
  ): Promise<void> {
    usage.meterWith(
      await this.#metering.begin({ tenant, user, key }, { ...work, model: card.id, announce, costOf: card.costOf }),
    );
  }

  #withAllowedPriority(request: CompletionRequest, tenant: string): CompletionRequest {
    const { job } = request;
    const isAllowed = (job.priority ?? 0) <= 0 || this.#allowsPriority(tenant);
    return isAllowed ? request : { ...request, job: { ...job, priority: 0 } };
  }

  #usableBackends(): InferenceBackend[] {
    const usable = this.#backends.filter((backend) => backend.unavailableReason() === undefined);
    const reason = usable.length === 0 ? this.#unavailableReason() : undefined;
    if (reason) throw reason;
    return usable;
  }

  /** The first backend that has one gives it. */
  #unavailableReason(missing?: string): Error | undefined {
    return this.#backends.map((backend) => backend.unavailableReason(missing)).find((reason) => reason !== undefined);
  }
}

/** Work whose answer goes out at its end, and has no completion. */
function wholeAnswer(operation: Operation, nPromptEstimate: number): Omit<MeteredWork, 'model'> {
  return { operation, nPromptEstimate, nMost: 0, isStreamed: false };
}

/** Work of the node itself, and work that a tenant was allowed before, names its tenant when it runs. */
function isOfTenant({ tenants }: ModelCard, caller: Caller): boolean {
  return tenants === undefined || caller.kind === 'work' || tenants.includes(caller.tenant);
}

/** Neither a provider's nor another node's. */
export function isOwn({ backend, nodes }: ModelCard): boolean {
  return backend === undefined && nodes === undefined;
}

/** No other node is asked for it. What a provider would have and this node has no key for is not here. */
function isHere({ nodes, servingState }: ModelCard): boolean {
  return nodes === undefined && servingState !== 'disabled';
}

/** The offers of a name that this node has itself come before those of other nodes, and those that nobody can use are the last. */
function ownFirst(offers: Offer[]): Offer[] {
  if (offers.every(({ card }) => isHere(card))) return offers;
  const rank = ({ card }: Offer): number => (isHere(card) ? 0 : card.nodes !== undefined ? 1 : 2);
  return offers.toSorted((a, b) => rank(a) - rank(b));
}

/** A model whose file is still being inspected answers nobody. */
async function offersOf(backend: InferenceBackend, asked: string): Promise<Offer[]> {
  const cards = await backend.models(asked);
  return cards.filter(({ state }) => state !== 'inspecting').map((card) => ({ backend, card }));
}

/** The use of an answer in which the model says no word: it takes no token and no memory of a model. */
const NO_USE: JobUsage = {
  nPromptTokens: 0,
  nCachedTokens: 0,
  nCompletionTokens: 0,
  queueMs: 0,
  prefillMs: 0,
  decodeMs: 0,
  nDraftedTokens: 0,
  nAcceptedTokens: 0,
};

export function answerSilently(sink: CompletionSink, nChoices: number): BackendCompletion {
  let isCancelled = false;
  // The sink is bound to the job that this returns before it receives anything.
  const turn = setImmediate(() => {
    sink.onStart(0, 0);
    // A quota that is used up ends the answer where it starts.
    if (isCancelled) return;
    for (let choice = 0; choice < nChoices; choice++) sink.onFinish(choice, 'stop', '');
    sink.onDone(NO_USE);
    sink.onFlush();
  });
  const cancel = () => {
    isCancelled = true;
    clearImmediate(turn);
  };
  return { cancel, pause: () => {}, resume: () => {}, release: () => {} };
}

/** All backends of the node as one that inference asks: a name has a card, whichever backends offer it. */
import { createHash } from 'node:crypto';
import type { EmbedResult, ProviderUse, RankResult, Text } from '../../native/llama-shapes.ts';
import {
  type BackendCompletion,
  type CallOptions,
  type CompletionRequest,
  type CompletionSink,
  type InferenceBackend,
  type InferenceService,
  inferenceErrors,
  type ModelCard,
} from '../inference/index.ts';
import { CloudCompletion } from './answers/cloud-completion.ts';
import { attemptFailure, ProviderAnswer } from './answers/provider-answer.ts';
import { AttemptFailure, passing } from './errors.ts';
import { type ChatCall, readChatCall, textOf } from './kinds/chat-call.ts';
import { type ListedModel, NO_TOKENS, type ProviderRequest, type ProviderTokens, UnsupportedMember } from './kinds/kind.ts';
import { refusalOf } from './kinds/refusal.ts';
import { costOf, type Price } from './prices/price.ts';
import type { Prices } from './prices/prices.ts';
import type { BackendRegistry } from './registry/backend-registry.ts';
import type { LiveBackend } from './registry/live-backend.ts';
import { Affinity } from './routing/affinity.ts';
import { type AttemptObserver, Attempts, type AttemptsDeps } from './routing/attempts.ts';
import type { Plan, Target } from './routing/target.ts';

export interface CloudObserver extends AttemptObserver {
  /** An answer is over. */
  ended(
    backend: LiveBackend,
    model: string,
    outcome: 'ok' | 'cut' | 'cancelled',
    use: ProviderUse | undefined,
    tokens: ProviderTokens,
  ): void;
}

interface CloudBackendDeps {
  readonly registry: BackendRegistry;
  readonly prices: Prices;
  readonly observer: CloudObserver;
  /** For fallbacks of this node. */
  readonly local: Pick<InferenceService, 'findLocal'>;
}

const DRAIN_MS = 30_000;
const MOST_BODY_BYTES = 64 * 1024 * 1024;
const BYTES_PER_TOKEN = 4;
/** A request of usual size, for comparing prices. */
const TYPICAL: ProviderTokens = { ...NO_TOKENS, nPromptTokens: 1000, nCompletionTokens: 300 };

export class CloudBackend implements InferenceBackend {
  readonly #deps: CloudBackendDeps;
  readonly #affinity = new Affinity();

  constructor(deps: CloudBackendDeps) {
    this.#deps = deps;
  }

  /** Backends come and go: that there is none keeps nobody else from answering. */
  unavailableReason(): undefined {
    return undefined;
  }

  async models(asked?: string): Promise<ModelCard[]> {
    const names = this.#deps.registry.names();
    if (asked !== undefined) {
      const found = names.get(asked);
      // What is not named exactly may still be meant: the choice among all cards is inference's.
      if (found !== undefined) return [this.#card(asked, found)];
    }
    return [...names].flatMap(([name, targets]) => (targets.length === 0 ? [] : [this.#card(name, targets)]));
  }

  async complete(
    card: ModelCard,
    request: CompletionRequest,
    sink: CompletionSink,
    options: CallOptions,
  ): Promise<BackendCompletion> {
    const { call, plan, requests } = this.#readCall(request, card, this.#planOf(card, options.tenant));
    const nPromptEstimate = estimateTokens(call);
    const conversation = conversationKey(options, call);
    const completion = new CloudCompletion({
      sink,
      model: card.id,
      nChoices: call.n,
      nPromptEstimate,
      price: (answer, tokens) => this.#costOf(answer.backend, answer.model, tokens),
      onOpened: ({ target, nAttempts }) => {
        this.#affinity.keep(conversation, target.backend.id);
        if (!options.seesBackends) return;
        options.announce?.('x-svc-backend', target.backend.id);
        options.announce?.('x-svc-attempts', String(nAttempts));
      },
      onEnded: (answer, outcome, use) =>
        this.#deps.observer.ended(answer.backend, answer.model, outcome, use?.provider, answer.tokens),
      drainMs: plan.groups.flat().some(({ backend }) => backend.facts.options.onClientGone === 'drain') ? DRAIN_MS : 0,
    });
    const late = options.timeoutMs === undefined ? undefined : setTimeout(() => completion.expire(), options.timeoutMs);
    const attempts = new Attempts(
      this.#attempts(),
      {
        plan,
        model: card.id,
        tenant: options.tenant,
        nTokens: nPromptEstimate + (call.maxTokens ?? 0),
        preferred: this.#affinity.find(conversation),
        signal: completion.signal,
      },
      (target, signal) => ProviderAnswer.open(target.backend, { ...call, model: target.model }, signal, requests.get(target)),
      (answer) => answer.close(),
    );
    const local = { plan, request, options };
    // Whoever asked has the running completion in hand before anything is heard.
    setImmediate(() => void this.#run(attempts, completion, sink, local).finally(() => clearTimeout(late)));
    return completion;
  }

  async embed(card: ModelCard, inputs: (Text | Int32Array)[], options: CallOptions): Promise<EmbedResult> {
    const texts = inputs.map((input) => {
      if (input instanceof Int32Array) throw this.#unsupported(new UnsupportedMember('input', 'token ids'), card);
      return textOf(input);
    });
    const { value, model, backend } = await this.#whole(card, options, texts, (target) => {
      const { embeddings } = target.backend.kind;
      if (embeddings === undefined) throw new UnsupportedMember('model', 'embeddings');
      const request = embeddings.request(target.model, texts, target.backend.facts.options);
      return { request, read: (body) => embeddings.read(body) };
    });
    if (value.vectors.length !== texts.length)
      throw inferenceErrors.error('provider_unreachable', `The provider of ${card.id} sends another number of vectors.`);
    return { vectors: value.vectors, ...this.#wholeUse(backend, model, value.nTokens, texts) };
  }

  async rank(card: ModelCard, query: Text, documents: Text[], options: CallOptions): Promise<RankResult> {
    const asked = textOf(query);
    const texts = documents.map(textOf);
    const { value, model, backend } = await this.#whole(card, options, [asked, ...texts], (target) => {
      const { rerank } = target.backend.kind;
      if (rerank === undefined) throw new UnsupportedMember('model', 'reranking');
      return { request: rerank.request(target.model, asked, texts), read: (body) => rerank.read(body, texts.length) };
    });
    return { scores: value.scores, ...this.#wholeUse(backend, model, value.nTokens, [asked, ...texts]) };
  }

  countTokens(card: ModelCard): Promise<number> {
    return Promise.reject(noTokenizer(card));
  }

  tokenize(card: ModelCard): Promise<Int32Array> {
    return Promise.reject(noTokenizer(card));
  }

  detokenize(card: ModelCard): Promise<string> {
    return Promise.reject(noTokenizer(card));
  }

  /** Undefined: nobody knows. */
  priceOf(backend: LiveBackend, model: string): Price | undefined {
    return this.#deps.prices.of(model, backend.facts.options.prices);
  }

  async #run(
    attempts: Attempts<ProviderAnswer>,
    completion: CloudCompletion,
    sink: CompletionSink,
    local: { plan: Plan; request: CompletionRequest; options: CallOptions },
  ): Promise<void> {
    try {
      const opened = await attempts.run();
      await completion.relay(opened);
    } catch (error) {
      if (completion.isOver) return;
      if (await this.#answerHere(completion, sink, local)) return;
      completion.fail(error as Error);
    }
  }

  /** Whether a model of this node answers in the place of the providers. */
  async #answerHere(
    completion: CloudCompletion,
    sink: CompletionSink,
    { plan, request, options }: { plan: Plan; request: CompletionRequest; options: CallOptions },
  ): Promise<boolean> {
    if (completion.signal.aborted) return false;
    for (const name of plan.local) {
      const found = await this.#deps.local.findLocal(name);
      if (found === undefined) continue;
      try {
        completion.handOver(await found.backend.complete(found.card, request, answeringAs(sink, found.card.id), options));
        return true;
      } catch {
        // The provider's failure says more to the client than why its stand-in cannot answer.
      }
    }
    return false;
  }

  #attempts(): AttemptsDeps {
    const { observer } = this.#deps;
    return { observer, costOf: ({ backend, model }) => this.#costOf(backend, model, TYPICAL).costMicros };
  }

  /** One request that is answered in one piece. Vectors of another model are never taken: all targets have the first one's. */
  async #whole<T>(
    card: ModelCard,
    options: CallOptions,
    texts: readonly string[],
    ask: (target: Target) => { request: ProviderRequest; read(body: unknown): T },
  ): Promise<{ value: T; model: string; backend: LiveBackend }> {
    const all = this.#planOf(card, options.tenant);
    const model = all.groups[0]?.[0]?.model;
    const groups = all.groups.map((group) => group.filter((target) => target.model === model));
    const plan = { ...all, groups, local: [] };
    const limits = options.timeoutMs === undefined ? [] : [AbortSignal.timeout(options.timeoutMs)];
    const signal = AbortSignal.any([options.signal, ...limits]);
    const request = { plan, model: card.id, tenant: options.tenant, nTokens: bytesOf(texts), preferred: undefined, signal };
    const open = async (target: Target, ended: AbortSignal): Promise<T> => {
      const { request: sent, read } = ask(target);
      return read(await this.#body(target, sent, ended));
    };
    try {
      const opened = await new Attempts(this.#attempts(), request, open, () => undefined).run();
      opened.release();
      return { value: opened.value, model: opened.target.model, backend: opened.target.backend };
    } catch (error) {
      if (error instanceof UnsupportedMember) throw this.#unsupported(error, card);
      if ((error as Error).name === 'TimeoutError')
        throw inferenceErrors.error('deadline_exceeded', 'The request ran past the time that it was given.');
      throw error;
    }
  }

  async #body({ backend }: Target, request: ProviderRequest, signal: AbortSignal): Promise<unknown> {
    const { first_byte_ms: limitMs } = backend.facts.options.timeouts;
    const late = AbortSignal.timeout(limitMs);
    const either = AbortSignal.any([signal, late]);
    try {
      const response = await backend.send(request, either);
      const bytes = await response.bytes(MOST_BODY_BYTES);
      if (!response.isOk)
        throw new AttemptFailure(refusalOf(response.status, response.headers, bytes.toString('utf8', 0, 65_536)));
      return JSON.parse(bytes.toString()) as unknown;
    } catch (error) {
      if (late.aborted && !signal.aborted) throw passing(`no answer for ${limitMs / 1000} s`);
      if (error instanceof SyntaxError) throw passing('it sends what is no JSON');
      throw attemptFailure(error, backend, signal);
    }
  }

  #wholeUse(backend: LiveBackend, model: string, nReported: number | undefined, texts: readonly string[]) {
    const nPromptTokens = nReported ?? Math.ceil(bytesOf(texts) / BYTES_PER_TOKEN);
    const tokens = { ...NO_TOKENS, nPromptTokens };
    const provider: ProviderUse = {
      backend: backend.id,
      nReasoningTokens: 0,
      nCacheWrite5mTokens: 0,
      nCacheWrite1hTokens: 0,
      nAudioTokens: 0,
      nImageTokens: 0,
      isEstimated: nReported === undefined,
      ...this.#costOf(backend, model, tokens),
    };
    this.#deps.observer.ended(backend, model, 'ok', provider, tokens);
    return { nTokens: [nPromptTokens], provider };
  }

  #planOf(card: ModelCard, tenant: string): Plan {
    const plan = this.#deps.registry.plan(card.id, tenant);
    if (plan.groups.length > 0 || plan.local.length > 0) return plan;
    throw inferenceErrors.error('model_not_ready', `${card.id} runs at a provider, and this node has no key for it.`);
  }

  /** What is sent to each target that takes the request as it is. Refused before anything is sent where none does. */
  #readCall(request: CompletionRequest, card: ModelCard, all: Plan) {
    const requests = new Map<Target, ProviderRequest>();
    try {
      const call = { ...readChatCall(request), model: card.id };
      let fault: unknown;
      for (const target of all.groups.flat()) {
        try {
          requests.set(target, target.backend.kind.chat({ ...call, model: target.model }, target.backend.facts.options));
        } catch (error) {
          fault = error;
        }
      }
      if (fault !== undefined && requests.size === 0) throw fault;
      const groups = all.groups.map((group) => group.filter((target) => requests.has(target)));
      return { call, plan: { ...all, groups }, requests };
    } catch (error) {
      throw error instanceof UnsupportedMember ? this.#unsupported(error, card) : error;
    }
  }

  #unsupported({ member, message }: UnsupportedMember, card: ModelCard) {
    const others = [...this.#deps.registry.names()].filter(([, targets]) =>
      targets.some(({ backend }) => backend.kind !== this.#kindOf(card)),
    );
    const models = others.map(([name]) => name).slice(0, 20);
    const sentence = `The provider of ${card.id} takes no ${member} (${message}). Models of this node take it${models.length > 0 ? `, and so may ${models.join(', ')}` : ''}.`;
    return inferenceErrors.error('unsupported_by_backend', sentence, { param: member, extra: { supported_models: models } });
  }

  #kindOf({ id }: ModelCard) {
    return this.#deps.registry.names().get(id)?.[0]?.backend.kind;
  }

  #costOf(backend: LiveBackend, model: string, tokens: ProviderTokens): Pick<ProviderUse, 'costMicros' | 'currency'> {
    const price = this.priceOf(backend, model);
    return { costMicros: price && costOf(price, tokens), currency: price?.currency ?? '' };
  }

  #card(name: string, targets: readonly Target[]): ModelCard {
    const [first] = targets as readonly [Target, ...Target[]];
    const { backend, model } = first;
    const listed = backend.offered.get(name) ?? backend.offered.get(model) ?? { id: model };
    const price = this.priceOf(backend, model);
    const lists = targets.map((target) => target.backend.facts.options.tenants);
    const states = targets.map((target) => target.backend.state(target.model));
    const servingState = states.includes('ok') ? 'ok' : (states[0] ?? 'checking');
    const capabilities = capabilitiesOf(listed);
    const { reason, facts } = backend;
    return {
      id: name,
      kind: capabilities.embeddings ? 'embedding' : capabilities.rerank ? 'rerank' : 'chat',
      family: familyOf(model),
      capabilities,
      ...(listed.contextLength !== undefined && { nCtxTrain: listed.contextLength }),
      createdAt: Math.floor(facts.createdAt / 1000),
      ownedBy: facts.kind,
      state: 'remote',
      backend: backend.id,
      servingState,
      ...(servingState !== 'ok' && reason !== undefined && { servingReason: reason }),
      ...(price !== undefined && { prices: { ...price } }),
      costOf: (nPromptTokens, nCompletionTokens) =>
        this.#costOf(backend, model, { ...NO_TOKENS, nPromptTokens, nCompletionTokens }).costMicros,
      ...(lists.every((list) => list !== null) && { tenants: [...new Set(lists.flat())] as string[] }),
    };
  }
}

/** A provider that does not say what a model can do is believed to be able to do everything, and refuses what it cannot. */
function capabilitiesOf({ id, capabilities }: ListedModel): ModelCard['capabilities'] {
  const names = ['chat', 'tools', 'vision', 'audio', 'thinking', 'embeddings', 'rerank'] as const;
  const has = (name: string): boolean => {
    if (capabilities !== undefined) return capabilities.includes(name);
    if (/rerank/i.test(id)) return name === 'rerank';
    if (/embed|(?:^|[/-])bge-|(?:^|[/-])e5-/i.test(id)) return name === 'embeddings';
    return name !== 'embeddings' && name !== 'rerank';
  };
  return Object.fromEntries(names.map((name) => [name, has(name)])) as unknown as ModelCard['capabilities'];
}

function familyOf(model: string): string {
  return /^[a-z]+/i.exec(model.slice(model.lastIndexOf('/') + 1))?.[0]?.toLowerCase() ?? '';
}

function noTokenizer({ id }: ModelCard) {
  return inferenceErrors.error(
    'unsupported',
    `${id} runs at a provider, which has no tokenizer for this node; use a model of this node.`,
    {
      param: 'model',
    },
  );
}

function bytesOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

const TOKENS_PER_IMAGE = 1_000;

function estimateTokens(call: ChatCall): number {
  const text = JSON.stringify(call.messages).length + (call.tools.length === 0 ? 0 : JSON.stringify(call.tools).length);
  return Math.ceil(text / BYTES_PER_TOKEN) + call.media.length * TOKENS_PER_IMAGE;
}

/** Without a conversation of ours, chats that begin in the same way are taken for one: their beginning is what a provider's cache has. */
function conversationKey({ tenant, conversation }: CallOptions, { messages, model }: ChatCall): string {
  const begin = conversation ?? JSON.stringify(messages.slice(0, 2)).slice(0, 4_000);
  return createHash('sha1')
    .update(JSON.stringify([tenant, model, begin]))
    .digest('base64');
}

/** Tells which model of this node answers. */
function answeringAs(sink: CompletionSink, model: string): CompletionSink {
  return {
    isStreamed: sink.isStreamed,
    begin: () => undefined,
    onStart: (nPrompt, nCached) => sink.onStart(nPrompt, nCached, model),
    onContent: (choice, body) => sink.onContent(choice, body),
    onReasoning: (choice, body) => sink.onReasoning(choice, body),
    onReasoningDetail: (choice, detail) => sink.onReasoningDetail(choice, detail),
    onToolCall: (choice, index, id, name) => sink.onToolCall(choice, index, id, name),
    onToolArguments: (choice, index, body) => sink.onToolArguments(choice, index, body),
    onLogprobs: (choice, tokens) => sink.onLogprobs(choice, tokens),
    onFinish: (choice, reason, stopString) => sink.onFinish(choice, reason, stopString),
    onDone: (usage) => sink.onDone(usage),
    onError: (error) => sink.onError(error),
    onFlush: () => sink.onFlush(),
  };
}

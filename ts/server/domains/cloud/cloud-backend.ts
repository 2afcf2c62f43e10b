/** All backends of the node as one that inference asks: a name has a card, whichever backends offer it. This file has its chats. */
import { createHash } from 'node:crypto';
import type { EmbedResult, ProviderUse, RankResult, Text } from '../../native/llama-shapes.ts';
import {
  type BackendCompletion,
  type CallOptions,
  type CompletionRequest,
  type CompletionSink,
  holdTexts,
  type InferenceBackend,
  type InferenceService,
  inferenceErrors,
  type ModelCard,
} from '../inference/index.ts';
import { CloudCompletion } from './answers/cloud-completion.ts';
import { ProviderAnswer } from './answers/provider-answer.ts';
import { notReady, unsupportedBy } from './errors.ts';
import { type ChatCall, readChatCall } from './kinds/chat-call.ts';
import { BYTES_PER_TOKEN, NO_TOKENS, type ProviderRequest, type ProviderTokens, UnsupportedMember } from './kinds/kind.ts';
import { plainText } from './kinds/thoughts.ts';
import { ModelCards } from './model-cards.ts';
import type { Prices } from './prices/prices.ts';
import type { BackendRegistry } from './registry/backend-registry.ts';
import type { LiveBackend } from './registry/live-backend.ts';
import { Affinity } from './routing/affinity.ts';
import { type AttemptObserver, Attempts, type AttemptsDeps } from './routing/attempts.ts';
import type { Plan, Target } from './routing/target.ts';
import { WholeAnswers } from './whole-answers.ts';

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

/** A chat as it came, for a model of this node that answers it in the place of the providers. */
interface LocalChat {
  readonly plan: Plan;
  readonly request: CompletionRequest;
  readonly options: CallOptions;
}

const DRAIN_MS = 30_000;
/** A request of usual size, for comparing prices. */
const TYPICAL: ProviderTokens = { ...NO_TOKENS, nPromptTokens: 1000, nCompletionTokens: 300 };

export class CloudBackend implements InferenceBackend {
  readonly #deps: CloudBackendDeps;
  readonly #affinity = new Affinity();
  readonly #attempts: AttemptsDeps;
  readonly #cards: ModelCards;
  readonly #whole: WholeAnswers;

  constructor(deps: CloudBackendDeps) {
    const { registry, prices, observer } = deps;
    this.#deps = deps;
    this.#attempts = { observer, costOf: ({ backend, model }) => this.#costOf(backend, model, TYPICAL).costMicros };
    this.#cards = new ModelCards(registry, prices);
    this.#whole = new WholeAnswers({
      registry,
      prices,
      attempts: this.#attempts,
      onEnded: (backend, model, use, tokens) => observer.ended(backend, model, 'ok', use, tokens),
    });
  }

  /** Backends come and go: that there is none keeps nobody else from answering. */
  unavailableReason(): undefined {
    return undefined;
  }

  models(asked?: string): Promise<ModelCard[]> {
    return this.#cards.models(asked);
  }

  async complete(
    card: ModelCard,
    asked: CompletionRequest,
    sink: CompletionSink,
    options: CallOptions,
  ): Promise<BackendCompletion> {
    const request = holdTexts(asked);
    const { call, plan, requests } = this.#readCall(request, card, options.tenant);
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
      this.#attempts,
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

  embed(card: ModelCard, inputs: (Text | Int32Array)[], options: CallOptions): Promise<EmbedResult> {
    return this.#whole.embed(card, inputs, options);
  }

  rank(card: ModelCard, query: Text, documents: Text[], options: CallOptions): Promise<RankResult> {
    return this.#whole.rank(card, query, documents, options);
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

  async #run(
    attempts: Attempts<ProviderAnswer>,
    completion: CloudCompletion,
    sink: CompletionSink,
    local: LocalChat,
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
  async #answerHere(completion: CloudCompletion, sink: CompletionSink, { plan, request, options }: LocalChat): Promise<boolean> {
    // A schema that only the provider would have followed is not answered without it.
    if (completion.signal.aborted || request.schemaRefusal !== undefined) return false;
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

  /** What is sent to each target that takes the request as it is. Refused before anything is sent where none does. */
  #readCall(request: CompletionRequest, card: ModelCard, tenant: string) {
    const all = this.#deps.registry.plan(card.id, tenant);
    const targets = all.groups.flat();
    if (targets.length === 0 && all.local.length === 0) throw notReady(card.id);
    let call: ChatCall | undefined;
    try {
      const read: ChatCall = { ...readChatCall(request), model: card.id };
      call = read;
      const faults = new Map<Target, UnsupportedMember>();
      const requests = new Map<Target, ProviderRequest>();
      for (const target of targets) {
        const written = requestFor(target, read, tenant);
        if (written instanceof UnsupportedMember) faults.set(target, written);
        else requests.set(target, written);
      }
      const [fault] = faults.values();
      if (fault !== undefined && requests.size === 0) throw fault;
      const groups = all.groups.map((group) => group.filter((target) => requests.has(target)));
      return { call: read, plan: { ...all, groups }, requests };
    } catch (error) {
      if (!(error instanceof UnsupportedMember)) throw error;
      const known = call;
      const able = known === undefined ? [] : this.#deps.registry.namesThat((target) => isTaken(target, known));
      throw unsupportedBy(card.id, error, able);
    }
  }

  #costOf({ facts }: LiveBackend, model: string, tokens: ProviderTokens): Pick<ProviderUse, 'costMicros' | 'currency'> {
    return this.#deps.prices.costOf(model, facts.options.prices, tokens);
  }
}

/** The fault in place of the request where the provider has no word for a member. */
function requestFor({ backend, model }: Target, call: ChatCall, tenant?: string): ProviderRequest | UnsupportedMember {
  const { options, keepsPromptsOf } = backend.facts;
  const isForgotten = tenant !== undefined && keepsPromptsOf?.(tenant) === false;
  try {
    return backend.kind.chat({ ...call, model, ...(isForgotten && { cachePrompt: false }) }, options);
  } catch (error) {
    if (error instanceof UnsupportedMember) return error;
    throw error;
  }
}

function isTaken(target: Target, call: ChatCall): boolean {
  return target.backend.isReady && !(requestFor(target, call) instanceof UnsupportedMember);
}

function noTokenizer({ id }: ModelCard) {
  const sentence = `${id} runs at a provider, which has no tokenizer for this node; use a model of this node.`;
  return inferenceErrors.error('unsupported', sentence, { param: 'model' });
}

const TOKENS_PER_IMAGE = 1_000;

function estimateTokens({ nTextBytes, media }: ChatCall): number {
  return Math.ceil(nTextBytes / BYTES_PER_TOKEN) + media.length * TOKENS_PER_IMAGE;
}

/** So much of each of the first messages tells conversations apart. */
const BEGIN_CHARACTERS = 2_000;

/** Without a conversation of ours, chats that begin in the same way are taken for one: their beginning is what a provider's cache has. */
function conversationKey({ tenant, conversation }: CallOptions, { messages, model }: ChatCall): string {
  const begin = messages.slice(0, 2).map(({ role, content }) => `${role} ${plainText(content).slice(0, BEGIN_CHARACTERS)}`);
  const hash = createHash('sha1');
  for (const part of [tenant, model, ...(conversation === undefined ? begin : [conversation])]) hash.update(`${part}\0`);
  return hash.digest('base64');
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

/** Vectors and scores, which a provider answers in one piece. */
import type { EmbedResult, ProviderUse, RankResult, Text } from '../../native/llama-shapes.ts';
import { type CallOptions, type InferenceBackend, inferenceErrors, type ModelCard, textOf } from '../inference/index.ts';
import { attemptFailure, readRefusal } from './answers/provider-answer.ts';
import { AttemptFailure, notReady, passing, unsupportedBy } from './errors.ts';
import { BYTES_PER_TOKEN, NO_TOKENS, type ProviderRequest, type ProviderTokens, UnsupportedMember } from './kinds/kind.ts';
import { refusalOf } from './kinds/refusal.ts';
import type { Prices } from './prices/prices.ts';
import type { BackendRegistry } from './registry/backend-registry.ts';
import type { LiveBackend } from './registry/live-backend.ts';
import { Attempts, type AttemptsDeps } from './routing/attempts.ts';
import type { Target } from './routing/target.ts';

interface WholeAnswersDeps {
  readonly registry: BackendRegistry;
  readonly prices: Prices;
  readonly attempts: AttemptsDeps;
  onEnded(backend: LiveBackend, model: string, use: ProviderUse, tokens: ProviderTokens): void;
}

/** One request to one target, and how its body is read. */
interface Asked<T> {
  readonly request: ProviderRequest;
  read(body: unknown): T;
}

interface Answered<T> {
  readonly value: T;
  readonly model: string;
  readonly backend: LiveBackend;
}

/** An answer has a vector of 8,192 numbers as JSON for each input, and at most what docs/admin/cloud.md states. */
const BYTES_PER_INPUT = 256 * 1024;
const MOST_BODY_BYTES = 64 * 1024 * 1024;

export class WholeAnswers implements Pick<InferenceBackend, 'embed' | 'rank'> {
  readonly #deps: WholeAnswersDeps;

  constructor(deps: WholeAnswersDeps) {
    this.#deps = deps;
  }

  async embed(card: ModelCard, inputs: (Text | Int32Array)[], options: CallOptions): Promise<EmbedResult> {
    const texts = inputs.map((input) => {
      if (input instanceof Int32Array) throw unsupportedBy(card.id, new UnsupportedMember('input', 'token ids'), []);
      return textOf(input);
    });
    const { value, model, backend } = await this.#answer(card, options, texts, (target) => {
      const { embeddings } = target.backend.kind;
      if (embeddings === undefined) throw new UnsupportedMember('model', 'embeddings');
      const request = embeddings.request(target.model, texts, target.backend.facts.options);
      return { request, read: (body) => embeddings.read(body) };
    });
    // Two vectors for one input leave another one without.
    if (value.vectors.length !== texts.length || value.vectors.includes(undefined as never))
      throw inferenceErrors.error('provider_unreachable', `The provider of ${card.id} sends another number of vectors.`);
    return { vectors: value.vectors, ...this.#use(backend, model, value.nTokens, texts) };
  }

  async rank(card: ModelCard, query: Text, documents: Text[], options: CallOptions): Promise<RankResult> {
    const asked = textOf(query);
    const texts = documents.map(textOf);
    const { value, model, backend } = await this.#answer(card, options, [asked, ...texts], (target) => {
      const { rerank } = target.backend.kind;
      if (rerank === undefined) throw new UnsupportedMember('model', 'reranking');
      return { request: rerank.request(target.model, asked, texts), read: (body) => rerank.read(body, texts.length) };
    });
    return { scores: value.scores, ...this.#use(backend, model, value.nTokens, [asked, ...texts]) };
  }

  /** Vectors of another model are never taken: all targets have the first one's. */
  async #answer<T>(
    card: ModelCard,
    options: CallOptions,
    texts: readonly string[],
    ask: (target: Target) => Asked<T>,
  ): Promise<Answered<T>> {
    const { registry, attempts } = this.#deps;
    const all = registry.plan(card.id, options.tenant);
    const model = all.groups[0]?.[0]?.model;
    if (model === undefined) throw notReady(card.id);
    const groups = all.groups.map((group) => group.filter((target) => target.model === model));
    const limits = options.timeoutMs === undefined ? [] : [AbortSignal.timeout(options.timeoutMs)];
    const signal = AbortSignal.any([options.signal, ...limits]);
    const plan = { ...all, groups, local: [] };
    const request = { plan, model: card.id, tenant: options.tenant, nTokens: bytesOf(texts), preferred: undefined, signal };
    const open = async (target: Target, ended: AbortSignal): Promise<T> => {
      const { request: sent, read } = ask(target);
      return read(await bodyOf(target, sent, ended, Math.min(MOST_BODY_BYTES, (1 + texts.length) * BYTES_PER_INPUT)));
    };
    try {
      const opened = await new Attempts(attempts, request, open, () => undefined).run();
      opened.release();
      return { value: opened.value, model: opened.target.model, backend: opened.target.backend };
    } catch (error) {
      if (error instanceof UnsupportedMember)
        throw unsupportedBy(
          card.id,
          error,
          registry.namesThat((target) => takes(ask, target)),
        );
      if ((error as Error).name === 'TimeoutError')
        throw inferenceErrors.error('deadline_exceeded', 'The request ran past the time that it was given.');
      throw error;
    }
  }

  #use(backend: LiveBackend, model: string, nReported: number | undefined, texts: readonly string[]) {
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
      ...this.#deps.prices.costOf(model, backend.facts.options.prices, tokens),
    };
    this.#deps.onEnded(backend, model, provider, tokens);
    return { nTokens: [nPromptTokens], provider };
  }
}

async function bodyOf({ backend }: Target, request: ProviderRequest, signal: AbortSignal, mostBytes: number): Promise<unknown> {
  const { first_byte_ms: limitMs } = backend.facts.options.timeouts;
  const late = AbortSignal.timeout(limitMs);
  const either = AbortSignal.any([signal, late]);
  try {
    const response = await backend.send(request, either);
    if (!response.isOk) throw new AttemptFailure(refusalOf(response.status, response.headers, await readRefusal(response)));
    return JSON.parse((await response.bytes(mostBytes)).toString()) as unknown;
  } catch (error) {
    if (late.aborted && !signal.aborted) throw passing(`no answer for ${limitMs / 1000} s`);
    if (error instanceof SyntaxError) throw passing('it sends what is no JSON');
    throw attemptFailure(error, backend, signal);
  }
}

/** Whether a target can be asked at all. */
function takes(ask: (target: Target) => unknown, target: Target): boolean {
  try {
    ask(target);
    return true;
  } catch {
    return false;
  }
}

function bytesOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

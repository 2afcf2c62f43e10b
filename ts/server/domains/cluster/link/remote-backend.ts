/** The models of other nodes as a backend of this one. The callers, their rights and what they use stay here; the other node computes. */
import { createHash } from 'node:crypto';
import type { EmbedResult, RankResult, Text } from '../../../native/llama-shapes.ts';
import { DomainError } from '../../../platform/errors/domain-error.ts';
import {
  type BackendCompletion,
  bytesOf,
  type CallOptions,
  type ChatPrompt,
  type CompletionRequest,
  type CompletionSink,
  holdTexts,
  type InferenceBackend,
  type ModelCard,
  type TokenizeFlags,
} from '../../inference/index.ts';
import { readFrame, readVectors } from './bodies.ts';
import { isWrittenError } from './called-record.ts';
import { decode, encode } from './frames.ts';
import type { Peer, Peers } from './peers.ts';
import { blocksOf } from './prefixes.ts';
import { RemoteCompletion, type RemoteCompletionParts } from './remote-completion.ts';
import { isAnswerTo, mostBytesOf } from './whole-answer.ts';
import { mayTryElsewhere, nodeLost, readError, sentOptions, type WholeMethod } from './work.ts';

const MOST_ATTEMPTS = 3;
/** So much of the beginning of a chat tells chats apart. */
const BEGIN_BYTES = 2_000;

export type RemoteObserver = Pick<RemoteCompletionParts, 'onEnd' | 'onSaved'>;

export class RemoteBackend implements InferenceBackend {
  readonly #peers: Peers;
  readonly #observer: RemoteObserver;

  constructor(peers: Peers, observer: RemoteObserver) {
    this.#peers = peers;
    this.#observer = observer;
  }

  /** A model that is missing may be on a node that has not said what it has. */
  unavailableReason(missing?: string): DomainError | undefined {
    return missing === undefined || !this.#peers.areUnknown
      ? undefined
      : nodeLost(missing, 'not all nodes have said which models they have');
  }

  async models(): Promise<ModelCard[]> {
    return [...this.#peers.cards()];
  }

  async complete(
    card: ModelCard,
    asked: CompletionRequest,
    sink: CompletionSink,
    options: CallOptions,
  ): Promise<BackendCompletion> {
    const startedAt = performance.now();
    const { model, needsTools, needsVision, needsAudio, job } = holdTexts(asked);
    const request = encode({ model, needsTools, needsVision, needsAudio, job });
    const conversation = conversationKey(options, job.prompt);
    const blocks = blocksOf(options.tenant, job.prompt);
    const completion = new RemoteCompletion({
      sink,
      model: card.id,
      nChoices: job.n ?? 1,
      body: () => {
        const sent = encode(sentOptions(options, performance.now() - startedAt));
        return `{"model":${JSON.stringify(card.id)},"options":${sent},"request":${request}}`;
      },
      choose: (tried) => this.#peers.choose(card.id, conversation, tried, blocks),
      blocks,
      announce: options.announce,
      ...this.#observer,
    });
    // Whoever asked has the running completion in hand before anything is heard.
    setImmediate(() => void completion.run());
    return completion;
  }

  embed(card: ModelCard, inputs: (Text | Int32Array)[], options: CallOptions): Promise<EmbedResult> {
    return this.#whole(card, 'embed', [inputs.map((input) => (input instanceof Int32Array ? input : held(input)))], options);
  }

  rank(card: ModelCard, query: Text, documents: Text[], options: CallOptions): Promise<RankResult> {
    return this.#whole(card, 'rank', [held(query), documents.map(held)], options);
  }

  contextTokens(card: ModelCard, options: CallOptions): Promise<number> {
    return this.#whole(card, 'contextTokens', [], options);
  }

  countTokens(card: ModelCard, prompt: ChatPrompt, options: CallOptions): Promise<number> {
    const { messagesJson, toolsJson, templateKwargsJson, ...others } = prompt;
    const texts = {
      messagesJson: held(messagesJson),
      ...(toolsJson !== undefined && { toolsJson: held(toolsJson) }),
      ...(templateKwargsJson !== undefined && { templateKwargsJson: held(templateKwargsJson) }),
    };
    return this.#whole(card, 'countTokens', [{ ...others, ...texts }], options);
  }

  tokenize(card: ModelCard, text: Text, flags: TokenizeFlags, options: CallOptions): Promise<Int32Array> {
    return this.#whole(card, 'tokenize', [held(text), flags], options);
  }

  detokenize(card: ModelCard, tokens: Int32Array, options: CallOptions): Promise<string> {
    return this.#whole(card, 'detokenize', [tokens], options);
  }

  contentHash(card: ModelCard, signal: AbortSignal): Promise<string> {
    return this.#whole(card, 'contentHash', [], { tenant: '', signal });
  }

  /** An answer in one piece may begin again until it is here. */
  async #whole<T>(card: ModelCard, method: WholeMethod, given: readonly unknown[], options: CallOptions): Promise<T> {
    const startedAt = performance.now();
    const sent = encode(given);
    const tried = new Set<Peer>();
    let failure = nodeLost(card.id, 'no node that has it takes work now');
    while (tried.size < MOST_ATTEMPTS) {
      const peer = this.#peers.choose(card.id, options.tenant, tried);
      if (peer === undefined) break;
      tried.add(peer);
      const left = encode(sentOptions(options, performance.now() - startedAt));
      const body = `{"model":${JSON.stringify(card.id)},"method":"${method}","options":${left},"arguments":${sent}}`;
      try {
        const value = (await askWhole(peer, { body, model: card.id, method, given }, options.signal)) as T;
        this.#observer.onEnd('ok', tried.size);
        return value;
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        failure = error;
        if (!mayTryElsewhere(error)) break;
      }
    }
    this.#observer.onEnd(failure.code === 'node_lost' ? 'lost' : 'refused', tried.size);
    throw failure;
  }
}

interface WholeAnswer {
  readonly value?: unknown;
  readonly error?: unknown;
}

interface AskedWhole {
  readonly body: string;
  readonly model: string;
  readonly method: WholeMethod;
  readonly given: readonly unknown[];
}

async function askWhole(peer: Peer, { body, model, method, given }: AskedWhole, signal: AbortSignal): Promise<unknown> {
  peer.nDispatched += 1;
  try {
    const response = await peer.ask('/whole', signal, body);
    const bytes = await response.bytes(mostBytesOf(method, given));
    if (response.status !== 200) throw nodeLost(model, `it answers ${response.status}`);
    const vectors = readFrame(bytes)?.vectors;
    const { value, error } = (vectors === undefined ? decode(bytes) : { value: readVectors(vectors) }) as WholeAnswer;
    if (isWrittenError(error)) throw readError(error);
    if (!isAnswerTo(method, given, value)) throw nodeLost(model, 'it answers what was not asked for');
    return value;
  } catch (error) {
    if (error instanceof DomainError) throw error;
    signal.throwIfAborted();
    peer.isAnswering = false;
    throw nodeLost(model, (error as Error).message, error);
  } finally {
    peer.nDispatched -= 1;
  }
}

function held(text: Text): string | Buffer {
  return typeof text === 'string' ? text : bytesOf(text);
}

/** Chats of a tenant that begin in the same way go to one node, which has their beginning in its cache. */
function conversationKey({ tenant, conversation }: CallOptions, prompt: CompletionRequest['job']['prompt']): string {
  const begin =
    prompt.kind === 'chat' ? prompt.messagesJson : prompt.kind === 'text' ? prompt.text : String(prompt.tokens.slice(0, 500));
  const hash = createHash('sha1').update(`${tenant}\0${conversation ?? ''}\0`);
  return hash.update(conversation === undefined ? Buffer.from(begin as string).subarray(0, BEGIN_BYTES) : '').digest('base64');
}

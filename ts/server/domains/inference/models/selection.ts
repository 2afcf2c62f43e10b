/** Chooses the model that answers a request: the one asked for, or the nearest that can. */

import type { Principal } from '../../../platform/http/principal.ts';
import type { ModelCard } from '../backend.ts';
import { inferenceError } from '../errors.ts';

/** The needs of a request; `model` is the name as the client wrote it. */
export type ModelNeeds = ChatNeeds | ExactNeeds | TokenizerNeeds;

export interface ChatNeeds {
  ability: 'chat';
  model: string;
  /** There are tools that may be called. */
  needsTools: boolean;
  /** One of them must be called. */
  mustCall?: boolean;
  needsVision: boolean;
  needsAudio: boolean;
}

export interface ExactNeeds {
  ability: 'embeddings' | 'rerank';
  model: string;
  /** Only models of this node, or only those of providers; default: either. */
  place?: 'here' | 'elsewhere';
}

export interface TokenizerNeeds {
  ability: 'tokenize';
  /** Undefined: the model that chats. */
  model: string | undefined;
}

export type Selection<T extends { card: ModelCard }> = T & {
  /** Another model than the one asked for answers. */
  isSubstitute: boolean;
};

/**
 * Chat: an unknown model does not fail, another answers; but tools are only handed to a capable model of the same family. A model that is there
 * and cannot call tools answers without them, unless one must be called. Throws
 * model_not_found, model_cannot_tool_call or unsupported (no image input).
 */
export function selectModel<T extends { card: ModelCard }>(
  offers: readonly T[],
  needs: ModelNeeds,
  preferred: string | undefined,
): Selection<T> {
  if (needs.ability === 'chat') return selectChat(offers, needs, preferred);
  if (needs.ability === 'tokenize') return selectTokenizer(offers, needs.model, preferred);
  return { ...selectExact(offers, needs), isSubstitute: false };
}

function selectChat<T extends { card: ModelCard }>(
  offers: readonly T[],
  needs: ChatNeeds,
  preferred: string | undefined,
): Selection<T> {
  const asked = findModel(offers, needs.model);
  if (asked && writes(asked.card) && (needs.mustCall !== true || asked.card.capabilities.tools)) {
    refuseMissingSense(asked.card, needs);
    return { ...asked, isSubstitute: false };
  }
  // A model that runs elsewhere costs money and sees what it is sent: it answers for its own name alone.
  const able = offers.filter(({ card }) => card.backend === undefined && writes(card) && missingSense(card, needs) === undefined);
  const candidates = needs.needsTools
    ? able.filter(({ card }) => card.capabilities.tools && isSameFamily(card, needs.model, asked?.card))
    : able;
  const [best] = candidates.toSorted((a, b) => rank(a.card, preferred) - rank(b.card, preferred));
  if (best) return { ...best, isSubstitute: true };
  const cards = offers.map(({ card }) => card);
  if (needs.needsTools) throw cannotCallTools(cards, needs.model);
  const lacking = cards.find((card) => writes(card) && missingSense(card, needs) !== undefined);
  if (lacking) refuseMissingSense({ ...lacking, id: needs.model }, needs);
  throw cannotChat(cards, needs.model);
}

/** Embeddings and scores of different models cannot be compared, so nothing is substituted. */
function selectExact<T extends { card: ModelCard }>(all: readonly T[], { model, ability, place }: ExactNeeds): T {
  const offers = place === undefined ? all : all.filter(({ card }) => (card.backend === undefined) === (place === 'here'));
  const named = findModel(offers, model);
  const { capabilities } = named?.card ?? {};
  // Any model in memory may be asked for embeddings by its own name.
  if (named && (capabilities?.[ability] || (ability === 'embeddings' && writes(named.card)))) return named;
  const able = offers.filter(({ card }) => card.capabilities[ability]).map(({ card }) => card.id);
  const list = able.length > 0 ? `Models that can: ${able.join(', ')}.` : 'None is installed; see `svc models pull`.';
  const what = ability === 'rerank' ? 'rank documents' : 'make embeddings';
  throw inferenceError('model_not_found', `No model named ${model} can ${what} here. ${list}`, { param: 'model' });
}

/** Tokens of another model would be wrong, so a named model must be there; without a name it is the one that chats. */
function selectTokenizer<T extends { card: ModelCard }>(
  offers: readonly T[],
  name: string | undefined,
  preferred: string | undefined,
): Selection<T> {
  if (name === undefined) {
    const needs = { ability: 'chat', model: preferred ?? '', needsTools: false, needsVision: false, needsAudio: false } as const;
    return selectChat(offers, needs, preferred);
  }
  const named = findModel(offers, name);
  if (named && named.card.state !== 'unusable') return { ...named, isSubstitute: false };
  throw inferenceError('model_not_found', `No usable model is named ${name}; GET /v1/models lists those that are.`, {
    param: 'model',
  });
}

function isSameFamily(card: ModelCard, name: string, asked: ModelCard | undefined): boolean {
  return asked ? card.family === asked.family : isOfFamily(name, card.family);
}

/** A model without a chat template answers chats too, where it is named or nothing else is there. */
function writes({ capabilities }: ModelCard): boolean {
  return capabilities.chat || capabilities.completion;
}

/** The default model first, then what is in memory, then the rest in their own order; those without a chat template last. */
function rank(card: ModelCard, preferred: string | undefined): number {
  if (card.id === preferred) return 0;
  if (!card.capabilities.chat) return 3;
  return card.state === 'loaded' ? 1 : 2;
}

function missingSense({ capabilities }: ModelCard, { needsVision, needsAudio }: ChatNeeds): 'vision' | 'audio' | undefined {
  if (needsVision && !capabilities.vision) return 'vision';
  return needsAudio && !capabilities.audio ? 'audio' : undefined;
}

function refuseMissingSense(card: ModelCard, needs: ChatNeeds): void {
  const missing = missingSense(card, needs);
  if (missing === undefined) return;
  const what = missing === 'vision' ? 'reads no images' : 'hears no sounds';
  throw inferenceError('unsupported', `${card.id} ${what}; use a model whose capabilities list ${missing}.`, {
    param: 'messages',
  });
}

function cannotCallTools(cards: readonly ModelCard[], model: string): Error {
  const able = cards.filter((card) => card.capabilities.chat && card.capabilities.tools).map((card) => card.id);
  return inferenceError(
    'model_cannot_tool_call',
    `${model} cannot call tools here, and no model of its family can; use one of supported_models.`,
    {
      param: 'model',
      extra: { supported_models: able },
    },
  );
}

function cannotChat(cards: readonly ModelCard[], model: string): Error {
  const broken = cards.filter((card) => card.unusable !== undefined).map((card) => `${card.id} (${card.unusable})`);
  const reason =
    broken.length > 0 ? ` Installed but unusable: ${broken.join('; ')}.` : ' None is installed; see `svc models pull`.';
  return inferenceError('model_not_found', `No model can answer a chat: ${model} was asked for.${reason}`, { param: 'model' });
}

/** Finds the model that a client means by a name. */
/** Exact id first; then without regard to case and Ollama's `:latest`; then an id that adds a quantisation to the name. */
export function findModel<T extends { card: { id: string } }>(offers: readonly T[], name: string): T | undefined {
  const plain = plainName(name);
  const addsQuantisation = (id: string) => id.startsWith(`${plain}-`) && isQuantisation(id.slice(plain.length + 1));
  return (
    offers.find(({ card }) => card.id === name) ??
    offers.find(({ card }) => plainName(card.id) === plain) ??
    offers.find(({ card }) => addsQuantisation(plainName(card.id)))
  );
}

/** Whether a name that no model has belongs to a family: Qwen/Qwen2.5-7B-Instruct is of qwen. */
export function isOfFamily(name: string, family: string): boolean {
  const plain = plainName(name.slice(name.lastIndexOf('/') + 1));
  return family !== '' && plain.startsWith(family.toLowerCase());
}

function plainName(name: string): string {
  return name.toLowerCase().replace(/:latest$/, '');
}

function isQuantisation(text: string): boolean {
  return /^(?:ud-)?(?:i?q\d[\w]*|f16|f32|bf16|mxfp4[\w]*)$/.test(text);
}

/** Whoever runs a model. */
export type ModelUser = Pick<Principal, 'limits'>;

/**
 * The offers among which a model is selected, so that nothing else is ever substituted. Throws model_not_allowed for a model that is there
 * and not permitted, and when none is.
 */
export function permittedOffers<T extends { card: ModelCard }>(
  offers: readonly T[],
  asked: string | undefined,
  models: readonly string[] | undefined,
): readonly T[] {
  if (models === undefined) return offers;
  const permitted = offers.filter(({ card }) => models.includes(card.id));
  const named = asked === undefined ? undefined : findModel(offers, asked);
  const isRefused = named === undefined ? permitted.length === 0 && offers.length > 0 : !models.includes(named.card.id);
  if (!isRefused) return permitted;
  const list = models.length > 0 ? `it is for ${models.join(', ')}` : 'it is for no model';
  throw inferenceError('model_not_allowed', `The credential may not use ${asked ?? 'the models of this node'}: ${list}.`, {
    param: 'model',
    extra: { allowed_models: models },
  });
}

/** Which model answers a request: the one asked for, or the nearest that can. */
import type { ModelCard } from './backend.ts';
import { refusal } from './errors.ts';
import { findModel, isOfFamily } from './model-name.ts';

export interface Needs {
  model: string;
  needsTools: boolean;
  needsVision: boolean;
}

export interface Selection {
  card: ModelCard;
  /** Another model than the one asked for answers. */
  isSubstitute: boolean;
}

/**
 * Chat: an unknown model does not fail, another answers; but tools are only handed to a capable model of the same family.
 * Throws model_cannot_tool_call, unsupported (no image input) or model_not_found.
 */
export function selectChatModel(cards: readonly ModelCard[], needs: Needs, preferred: string | undefined): Selection {
  const asked = findModel(cards, needs.model);
  if (asked?.capabilities.chat && (!needs.needsTools || asked.capabilities.tools)) {
    if (needs.needsVision && !asked.capabilities.vision) throw blind(asked.id);
    return { card: asked, isSubstitute: false };
  }
  const able = cards.filter((card) => card.capabilities.chat && (!needs.needsVision || card.capabilities.vision));
  const candidates = needs.needsTools
    ? able.filter((card) => card.capabilities.tools && isSameFamily(card, needs.model, asked))
    : able;
  const [card] = candidates.toSorted((a, b) => rank(a, preferred) - rank(b, preferred));
  if (card) return { card, isSubstitute: true };
  if (needs.needsTools) throw cannotCallTools(cards, needs.model);
  if (needs.needsVision && cards.some((other) => other.capabilities.chat)) throw blind(needs.model);
  throw notFound(cards, needs.model, 'answer a chat');
}

/** Embeddings and scores of different models cannot be compared, so nothing is substituted. */
export function selectExactModel(cards: readonly ModelCard[], name: string, ability: 'embeddings' | 'rerank'): ModelCard {
  const named = findModel(cards, name);
  // Any model in memory may be asked for embeddings by its own name.
  if (named && (named.capabilities[ability] || (ability === 'embeddings' && named.capabilities.chat))) return named;
  const able = cards.filter((card) => card.capabilities[ability]).map((card) => card.id);
  const list = able.length > 0 ? `Models that can: ${able.join(', ')}.` : 'None is installed; see `svc models pull`.';
  const what = ability === 'rerank' ? 'rank documents' : 'make embeddings';
  throw refusal('model_not_found', `No model named ${name} can ${what} here. ${list}`, { param: 'model' });
}

function isSameFamily(card: ModelCard, name: string, asked: ModelCard | undefined): boolean {
  return asked ? card.family === asked.family : isOfFamily(name, card.family);
}

/** The default model first, then what is in memory, then the rest in their own order. */
function rank(card: ModelCard, preferred: string | undefined): number {
  if (card.id === preferred) return 0;
  return card.state === 'loaded' ? 1 : 2;
}

function blind(model: string): Error {
  return refusal('unsupported', `${model} reads no images; use a model whose capabilities list vision.`, { param: 'messages' });
}

function cannotCallTools(cards: readonly ModelCard[], model: string): Error {
  const able = cards.filter((card) => card.capabilities.chat && card.capabilities.tools).map((card) => card.id);
  return refusal(
    'model_cannot_tool_call',
    `${model} cannot call tools here, and no model of its family can; use one of supported_models.`,
    {
      param: 'model',
      extra: { supported_models: able },
    },
  );
}

function notFound(cards: readonly ModelCard[], model: string, what: string): Error {
  const broken = cards.filter((card) => card.unusable !== undefined).map((card) => `${card.id} (${card.unusable})`);
  const reason =
    broken.length > 0 ? ` Installed but unusable: ${broken.join('; ')}.` : ' None is installed; see `svc models pull`.';
  return refusal('model_not_found', `No model can ${what}: ${model} was asked for.${reason}`, { param: 'model' });
}

/** The models that a credential may use: some are limited to those that they name. */
import type { Principal } from '../../../platform/http/principal.ts';
import type { ModelCard } from '../backend.ts';
import { inferenceError } from '../errors.ts';
import { findModel } from './model-name.ts';

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

/** Finds which price a model has: what its backend says, else what the operator has set for its name, else the list. */

import type { ProviderUse } from '../../../native/llama-shapes.ts';
import type { ProviderTokens } from '../kinds/kind.ts';
import { costOf, type Price } from './price.ts';
import { PRICE_LIST } from './price-list.ts';

export type PriceTable = Readonly<Record<string, Price>>;

export class Prices {
  #own: PriceTable = {};

  replace(own: PriceTable): void {
    this.#own = own;
  }

  get own(): PriceTable {
    return this.#own;
  }

  /** Undefined: nobody knows. */
  of(model: string, ofBackend: PriceTable): Price | undefined {
    return exact(ofBackend, model) ?? exact(this.#own, model) ?? listed(model);
  }

  /** Cost undefined: nobody knows. */
  costOf(model: string, ofBackend: PriceTable, tokens: ProviderTokens): Pick<ProviderUse, 'costMicros' | 'currency'> {
    const price = this.of(model, ofBackend);
    return { costMicros: price && costOf(price, tokens), currency: price?.currency ?? '' };
  }
}

function exact(table: PriceTable, model: string): Price | undefined {
  return Object.hasOwn(table, model) ? table[model] : undefined;
}

/** `gpt-4.1-mini-2025-04-14` and `openai/gpt-4.1-mini` are `gpt-4.1-mini`; `gpt-4.1-mini-audio` is another model. */
function listed(model: string): Price | undefined {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase();
  const plain = name.replace(/[-@](?:\d{4}-?\d{2}-?\d{2}|latest|\d{3})$/, '');
  return exact(PRICE_LIST, plain) ?? exact(PRICE_LIST, plain.replace(/-0$/, ''));
}

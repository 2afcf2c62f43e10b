import t from 'tap';
import { NO_TOKENS } from '../kinds/kind.ts';
import { costOf, PRICE_PATTERN, PRICED } from './price.ts';
import { PRICE_LIST } from './price-list.ts';
import { Prices } from './prices.ts';

const price = { input: '3', output: '15', cache_read: '0.3', cache_write_5m: '3.75', cache_write_1h: '6', currency: 'USD' };

t.test('what has a price of its own is billed by it, and the rest as what it is part of', async (t) => {
  const tokens = { ...NO_TOKENS, nPromptTokens: 1000, nCompletionTokens: 100 };
  t.equal(costOf(price, tokens), 3000 + 1500);
  const cached = { ...tokens, nCacheReadTokens: 500, nCacheWrite5mTokens: 200, nCacheWrite1hTokens: 100 };
  t.equal(costOf(price, cached), 200 * 3 + 150 + 750 + 600 + 1500);
  t.equal(costOf({ input: '3', output: '15', currency: 'USD' }, cached), 4500, 'without prices of the cache');
  t.equal(costOf({ ...price, reasoning: '20' }, { ...tokens, nReasoningTokens: 40 }), 3000 + 60 * 15 + 40 * 20);
  t.equal(costOf(price, NO_TOKENS), 0, 'a zero that was reported costs nothing');
});

t.test('a price that is missing makes no cost of zero', async (t) => {
  t.equal(costOf({ input: '1', currency: 'USD' }, { ...NO_TOKENS, nPromptTokens: 1, nCompletionTokens: 1 }), undefined);
  t.equal(costOf({ input: '1', currency: 'USD' }, { ...NO_TOKENS, nPromptTokens: 7 }), 7);
});

t.test('sums are rounded once, and exact where doubles are not', async (t) => {
  t.equal(
    costOf({ input: '0.1', output: '0.2', currency: 'USD' }, { ...NO_TOKENS, nPromptTokens: 3, nCompletionTokens: 1 }),
    1,
    '0.5 goes up',
  );
  t.equal(costOf({ input: '0.000000001', currency: 'USD' }, { ...NO_TOKENS, nPromptTokens: 1_000_000_000 }), 1);
  t.equal(costOf({ input: '123456.789', currency: 'USD' }, { ...NO_TOKENS, nPromptTokens: 1_000_000 }), 123_456_789_000);
});

t.test('the backend’s price goes before the node’s, and that before the list', async (t) => {
  const prices = new Prices();
  t.equal(prices.of('gpt-4.1-mini', {})?.input, '0.4');
  t.equal(prices.of('openai/gpt-4.1-mini-2025-04-14', {})?.input, '0.4', 'with its date and its maker');
  t.equal(prices.of('gpt-4.1-mini-audio', {}), undefined, 'another model');
  prices.replace({ 'gpt-4.1-mini': { input: '1', currency: 'EUR' } });
  t.equal(prices.of('gpt-4.1-mini', {})?.currency, 'EUR');
  t.equal(prices.of('gpt-4.1-mini', { 'gpt-4.1-mini': { input: '2', currency: 'CHF' } })?.currency, 'CHF');
});

t.test('the list is money with a date and a source', async (t) => {
  for (const [model, listed] of Object.entries(PRICE_LIST)) {
    t.match(listed, { currency: /^[A-Z]{3}$/, source: /^https:/, date: /^\d{4}-\d{2}-\d{2}$/ }, model);
    for (const name of PRICED)
      if (listed[name] !== undefined) t.match(listed[name], new RegExp(PRICE_PATTERN), `${model} ${name}`);
  }
});

import t from 'tap';
import type { ModelCard } from '../backend.ts';
import { permittedOffers } from './selection.ts';

const offers = ['small-q4_0', 'large', 'embedder'].map((id) => ({ card: { id } as ModelCard }));
const ids = (asked: string | undefined, models?: string[]) => permittedOffers(offers, asked, models).map(({ card }) => card.id);

t.test('a credential without a limit may use every model', async (t) => {
  t.strictSame(ids('large'), ['small-q4_0', 'large', 'embedder']);
});

t.test('only permitted models answer, also in the place of one that is not there', async (t) => {
  t.strictSame(ids('small', ['small-q4_0', 'embedder']), ['small-q4_0', 'embedder'], 'by any name that means it');
  t.strictSame(ids('gpt-4', ['large']), ['large']);
  t.strictSame(ids(undefined, ['large']), ['large']);
});

t.test('a model that is there and not permitted is refused, whatever name it is asked by', async (t) => {
  const refusal = { code: 'model_not_allowed', extra: { allowed_models: ['large'] } };
  for (const name of ['small-q4_0', 'SMALL', 'small:latest', 'embedder']) t.throws(() => ids(name, ['large']), refusal, name);
});

t.test('a credential that may use none of the models is refused for every name', async (t) => {
  for (const name of ['large', 'gpt-4', undefined]) {
    t.throws(() => ids(name, ['gone']), { code: 'model_not_allowed' });
    t.throws(() => ids(name, []), { code: 'model_not_allowed' });
  }
  t.strictSame(permittedOffers([], 'large', ['large']), [], 'a node without models says so in its own words');
});

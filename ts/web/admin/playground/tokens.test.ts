import t from 'tap';
import { certainty, tokensOf } from './tokens.ts';

t.test('log probabilities become shares, with the alternatives of each token', async (t) => {
  const content = [
    { token: 'Hello', logprob: 0, top_logprobs: [{ token: 'Hello', logprob: 0 }] },
    { token: ' x', logprob: Math.log(0.25), top_logprobs: [{ token: ' y', logprob: Math.log(0.5) }] },
  ];
  const [first, second] = tokensOf({ logprobs: { content } });
  t.match(first, { text: 'Hello', probability: 1, alternatives: [{ text: 'Hello', probability: 1 }] });
  t.equal(second?.probability.toFixed(2), '0.25');
  t.equal(second?.alternatives[0]?.probability.toFixed(2), '0.50');
});

t.test('an answer without log probabilities has no tokens', async (t) => {
  for (const choice of [undefined, {}, { logprobs: null }, { logprobs: { content: null } }]) t.strictSame(tokensOf(choice), []);
});

t.test('four classes of certainty', async (t) => {
  t.strictSame([1, 0.9, 0.6, 0.3, 0.01].map(certainty), ['certain', 'certain', 'likely', 'open', 'surprising']);
});

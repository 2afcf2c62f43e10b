/** Settings of the swarm module: what a goal may use that does not say. */
import { integerSchema, setting } from '../../platform/config/setting.ts';

export const swarmSettings = {
  'goals.steps': setting(integerSchema(1, 1_000), 20, 'Steps that a goal may begin, where it does not say.'),
  'goals.tokens': setting(
    integerSchema(1, 2 ** 40),
    1_000_000,
    'Tokens of prompts and answers that a goal may use, where it does not say.',
  ),
  'goals.seconds': setting(integerSchema(1, 2 ** 30), 3_600, 'How long a goal may be worked at, where it does not say.'),
  'goals.cost_micros': setting(
    integerSchema(0, 2 ** 50),
    0,
    'What providers may bill for a goal, in millionths of the currency of the prices, where it does not say; 0: no limit.',
  ),
} as const;

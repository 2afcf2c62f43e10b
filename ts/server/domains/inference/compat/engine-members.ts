/** Schemas of the members that steer the engine, the same on every completion route. Source: llama.cpp tools/server/README.md. */
import Type, { type Static } from 'typebox';
import { nullableBoolean, nullableInteger, nullableList, nullableNumber, nullableRecord, nullableString } from './nullable.ts';
import { serviceTierMember } from './service-tier.ts';
import { speculationMembers } from './speculation.ts';

export const maxTokensLimit = 16_777_216;
/** The penalty's window is allocated for each request. */
export const maxLookback = 65_536;

/** Members that steer sampling, by llama.cpp's names where OpenAI has none. */
export const samplingMembers = {
  temperature: nullableNumber(0, 100, 'Randomness; 0 takes the most likely token.'),
  top_p: nullableNumber(0, 1, 'Keeps the most likely tokens up to this total probability.'),
  top_k: nullableInteger(-1, maxTokensLimit, 'Keeps this many tokens; 0 or -1 keeps all.'),
  min_p: nullableNumber(0, 1, 'Drops tokens below this share of the best probability.'),
  typical_p: nullableNumber(0, 1, 'Locally typical sampling; 1 is off.'),
  repeat_penalty: nullableNumber(0.01, 100, 'Penalty of repeated tokens; 1 is off.'),
  repeat_last_n: nullableInteger(-1, maxLookback, 'Tokens that the repeat penalty looks back on; -1 is the most.'),
  frequency_penalty: nullableNumber(-2, 2, 'Penalty by how often a token occurred.'),
  presence_penalty: nullableNumber(-2, 2, 'Penalty once a token occurred.'),
  mirostat: nullableInteger(0, 2, 'Mirostat version; 0 is off.'),
  mirostat_tau: nullableNumber(0, 1000, 'Mirostat target entropy.'),
  mirostat_eta: nullableNumber(0, 1000, 'Mirostat learning rate.'),
  dry_multiplier: nullableNumber(0, 100, 'DRY repetition penalty; 0 is off.'),
  xtc_probability: nullableNumber(0, 1, 'Chance of the XTC sampler; 0 is off.'),
  xtc_threshold: nullableNumber(0, 1, 'Threshold of the XTC sampler.'),
  seed: nullableInteger(
    Number.MIN_SAFE_INTEGER,
    Number.MAX_SAFE_INTEGER,
    'Same seed, same request, same engine: same tokens. -1 is random.',
  ),
  ignore_eos: nullableBoolean('Goes on past the end-of-text token.'),
};

const Lora = Type.Object({
  id: Type.Unsafe<string | number>({ type: ['string', 'integer'], description: 'Name of an adapter, or its index.' }),
  scale: Type.Number({ minimum: -100, maximum: 100 }),
});

export type LoraMember = Static<typeof Lora>;

/** Members of this engine that no foreign API has, accepted on every completion route. */
export const engineMembers = {
  grammar: nullableString('GBNF grammar that the answer must match.', { maxLength: 1_000_000 }),
  json_schema: nullableRecord('JSON Schema that the answer must match.'),
  cache_prompt: nullableBoolean('Reuses cached prompt prefixes; true unless told.'),
  lora: nullableList<LoraMember>(Lora, 64, 'Adapters of this request with their scales.'),
  chat_template_kwargs: nullableRecord('Extra variables of the chat template.'),
  service_tier: serviceTierMember,
  ...speculationMembers,
};

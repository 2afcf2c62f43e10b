/** Schemas of the members that steer the engine, the same on every completion route. Source: llama.cpp tools/server/README.md. */
import Type, { type Static } from 'typebox';
import { samplingOptions } from '../../../native/options/sampling-options.ts';
import { nullableBoolean, nullableList, nullableRecord, nullableString } from './nullable.ts';
import { membersOf } from './option-members.ts';
import { serviceTierMember } from './service-tier.ts';
import { speculationMembers } from './speculation.ts';

export const maxTokensLimit = 16_777_216;

/** Members that steer sampling, by llama.cpp's names where OpenAI has none. */
export const samplingMembers = membersOf(samplingOptions);

const Lora = Type.Object({
  id: Type.Unsafe<string | number>({ type: ['string', 'integer'], description: 'Name of an adapter, or its index.' }),
  scale: Type.Number({ minimum: -100, maximum: 100 }),
});

export type LoraMember = Static<typeof Lora>;

/** Members of this engine that no foreign API has, accepted on every completion route. */
export const engineMembers = {
  grammar: nullableString('GBNF grammar that the answer must match.', { maxLength: 262_144 }),
  json_schema: nullableRecord('JSON Schema that the answer must match.'),
  cache_prompt: nullableBoolean('Reuses cached prompt prefixes; true unless told.'),
  lora: nullableList<LoraMember>(Lora, 64, 'Adapters of this request with their scales.'),
  chat_template_kwargs: nullableRecord('Extra variables of the chat template.'),
  service_tier: serviceTierMember,
  ...speculationMembers,
};

/** The members that steer the engine, the same on every completion route: their schemas and their values. Source: llama.cpp tools/server/README.md. */

import type { TOptional, TUnsafe } from 'typebox';
import Type, { type Static } from 'typebox';
import type { GenerationJob, Sampling } from '../../../native/llama-shapes.ts';
import type { Option, OptionTable, OptionValue, OptionValues } from '../../../native/options/option.ts';
import { samplingOptions } from '../../../native/options/sampling-options.ts';
import type { ChatPrompt, ProviderMembers } from '../../inference/index.ts';
import { invalid } from '../errors.ts';
import { asInteger, asList, asNumber, type Members, omitNullish } from './members.ts';
import { nullableBoolean, nullableInteger, nullableList, nullableNumber, nullableRecord, nullableString } from './nullable.ts';

const maxDraft = 64;

/** They steer speculative decoding. */
const speculationMembers = {
  'speculative.n_max': nullableInteger(
    0,
    maxDraft,
    "Most tokens drafted at a time; 0 switches speculative decoding off. Lowers the server's inference.draft_max.",
  ),
  'speculative.type': nullableString(
    'Where drafts come from: none, ngram-simple (the text so far) or draft-simple (the draft model).',
    {
      enum: ['none', 'ngram-simple', 'draft-simple'],
    },
  ),
};

interface SpeculationMembers {
  'speculative.n_max'?: number | null | undefined;
  'speculative.type'?: string | null | undefined;
}

const sources: Record<string, NonNullable<GenerationJob['draftSource']>> = {
  none: 'none',
  'ngram-simple': 'ngram',
  'draft-simple': 'model',
};

export function readSpeculation(body: SpeculationMembers): {
  nDraftMax: number | null | undefined;
  draftSource: GenerationJob['draftSource'];
} {
  return { nDraftMax: body['speculative.n_max'], draftSource: sources[body['speculative.type'] ?? ''] };
}

const serviceTierMember = nullableString(
  'flex lets other requests go first; priority and fast go before them, for tenants that may. Anything else: as usual.',
  { maxLength: 64 },
);

/** OpenAI's service tiers as the engine's priorities. */
const priorities: Readonly<Record<string, number>> = { flex: -1, priority: 1, fast: 1 };

export function readPriority(tier: string | null | undefined): number | undefined {
  return tier !== undefined && tier !== null && Object.hasOwn(priorities, tier) ? priorities[tier] : undefined;
}

/** They change no answer, and are a matter of the provider of a model that runs elsewhere. */
const hints = ['prompt_cache_key', 'prompt_cache_retention', 'safety_identifier', 'user'] as const;

export function providerHints(body: { [K in (typeof hints)[number]]?: unknown }): Pick<ProviderMembers, 'hints'> {
  const given = hints.flatMap((name) => (typeof body[name] === 'string' ? [[name, body[name]] as const] : []));
  return given.length === 0 ? {} : { hints: Object.fromEntries(given) };
}

/** The types and functions below make members of a body from a table of options. */
type WireName<O> = O extends { wire: { name: infer N extends string } } ? N : never;

/** The schemas by the names in the body. */
type MemberSchemas<T> = { [K in keyof T as WireName<T[K]>]: TOptional<TUnsafe<OptionValue<T[K]> | null>> };

type MemberValues<T> = { [K in keyof T as WireName<T[K]>]?: OptionValue<T[K]> | null | undefined };

/** A character takes up to four bytes. */
const bytesPerCharacter = 4;

function membersOf<const T extends OptionTable>(table: T): MemberSchemas<T> {
  const members = Object.values<Option>(table).flatMap((option) =>
    option.wire === undefined ? [] : [[option.wire.name, schemaOf(option)]],
  );
  return Object.fromEntries(members) as MemberSchemas<T>;
}

function schemaOf(option: Option) {
  const { help } = option;
  switch (option.kind) {
    case 'integer':
      return nullableInteger(option.wire?.minimum ?? option.minimum, option.wire?.maximum ?? option.maximum, help);
    case 'number':
      return nullableNumber(option.wire?.minimum ?? option.minimum, option.wire?.maximum ?? option.maximum, help);
    case 'boolean':
      return nullableBoolean(help);
    case 'choices': {
      const names = Object.keys(option.choices);
      return nullableList<string>({ type: 'string', enum: names }, names.length, help);
    }
    case 'texts': {
      const maxLength = Math.floor(option.mostBytes / bytesPerCharacter);
      return nullableList<string>({ type: 'string', minLength: 1, maxLength }, option.most, help);
    }
    default:
      throw new Error(`no member of a body is of the kind ${option.kind}`);
  }
}

/** Those that the body names; null means absent. */
function readMembers<const T extends OptionTable>(table: T, body: MemberValues<T>): OptionValues<T> {
  const values = Object.entries<Option>(table).flatMap(([key, { wire }]) => {
    const value = wire === undefined ? undefined : (body as Record<string, unknown>)[wire.name];
    if (value === undefined || value === null) return [];
    return [[key, value === -1 && wire?.minusOne !== undefined ? wire.minusOne : value]];
  });
  return Object.fromEntries(values) as OptionValues<T>;
}

/** Of `reasoning_effort`, `reasoning.effort` and `output_config.effort`. */
export const effortHelp =
  'none switches thinking off where the template can; it gets any other as its variable reasoning_effort.';

export const maxTokensLimit = 16_777_216;

/** Members that steer sampling, by llama.cpp's names where OpenAI has none. */
export const samplingMembers = membersOf(samplingOptions);

const Lora = Type.Object({
  id: Type.Unsafe<string | number>({ type: ['string', 'integer'], description: 'Name of an adapter, or its index.' }),
  scale: Type.Number({ minimum: -100, maximum: 100 }),
});

type LoraMember = Static<typeof Lora>;

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

type Maybe<T> = T | null | undefined;

type SamplingMembers = MemberValues<typeof samplingOptions>;

export function readSampling(body: SamplingMembers): Sampling {
  const { seed: _raw, ...rest } = readMembers(samplingOptions, body);
  return { ...rest, ...omitNullish<Sampling>({ seed: readSeed(body.seed) }) };
}

/** OpenAI's seeds have 64 bits and the engine's 32: the low ones are kept. Negative means random, as in llama.cpp. */
function readSeed(seed: Maybe<number>): number | undefined {
  if (seed === undefined || seed === null || seed < 0) return undefined;
  return seed % 2 ** 32;
}

/** Stands for "never" where llama.cpp's form gives false. */
const never = -1e9;

/** OpenAI: {"50256": -100}; llama.cpp: [[50256, -100], [11, false]]. */
export function readLogitBias(value: Maybe<Members | unknown[]>): [number, number][] | undefined {
  if (value === undefined || value === null) return undefined;
  const length = Array.isArray(value) ? value.length : Object.keys(value).length;
  if (length > 4096) throw invalid('logit_bias', 'logit_bias holds at most 4096 tokens.');
  const pairs: unknown[] = Array.isArray(value) ? value : Object.entries(value).map(([token, bias]) => [toTokenId(token), bias]);
  return pairs.map((pair, index) => {
    const [token, bias] = asList(pair, `logit_bias[${index}]`);
    const id = asInteger(token, 'logit_bias token', 0, 2 ** 31 - 1);
    return [id, bias === false ? never : asNumber(bias, `logit_bias of token ${id}`, -100, 100)];
  });
}

function toTokenId(key: string): number {
  if (!/^\d{1,10}$/.test(key))
    throw invalid('logit_bias', `logit_bias has the key ${JSON.stringify(key.slice(0, 40))}; keys are token ids.`);
  return Number(key);
}

/** The engine's bound is as many bytes. */
const maxStopCharacters = 1024;

export function readStop(stop: Maybe<string | readonly unknown[]>): string[] | undefined {
  if (stop === undefined || stop === null) return undefined;
  const list = typeof stop === 'string' ? [stop] : stop.map(String);
  const strings = list.filter((text) => text.length > 0);
  if (strings.some((text) => text.length > maxStopCharacters))
    throw invalid('stop', `stop holds a text of more than ${maxStopCharacters} characters.`);
  return strings.length > 0 ? strings : undefined;
}

const maxLoraName = 1024;

export function readLoras(loras: Maybe<LoraMember[]>): GenerationJob['loras'] {
  return loras?.map(({ id, scale }, index) => {
    const name = String(id);
    if (name.length > maxLoraName)
      throw invalid(`lora[${index}].id`, `lora[${index}].id has more than ${maxLoraName} characters.`);
    return { name, scale };
  });
}

/** `none` switches thinking off; templates that know efforts read any other as their variable, unless the request sets that itself. */
export function promptThinking(
  effort: string | null | undefined,
  kwargs: Record<string, unknown> | null | undefined,
): Partial<ChatPrompt> {
  const asked = effort === 'none' ? false : kwargs?.['enable_thinking'];
  const variables = effort && effort !== 'none' ? { reasoning_effort: effort, ...kwargs } : kwargs;
  return {
    ...(typeof asked === 'boolean' ? { enableThinking: asked } : {}),
    ...(variables ? { templateKwargsJson: JSON.stringify(variables) } : {}),
  };
}

/** Sampling members by their wire names -> the engine's options. */

import type { GenerationJob, Sampling } from '../../../native/llama-shapes.ts';
import { samplingOptions } from '../../../native/options/sampling-options.ts';
import { invalid } from '../errors.ts';
import type { LoraMember } from './engine-members.ts';
import { asInteger, asList, asNumber, type Members, omitNullish } from './members.ts';
import { type MemberValues, readMembers } from './option-members.ts';

type Maybe<T> = T | null | undefined;

export type SamplingMembers = MemberValues<typeof samplingOptions>;

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

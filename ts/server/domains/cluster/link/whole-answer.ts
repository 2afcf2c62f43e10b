/** Judges what comes back for work whose answer comes in one piece: how much of it, and of which shape. A node that lies must cost no more than its answer. */
import Type from 'typebox';
import { compileLazily } from '../../../platform/schema/compile-lazily.ts';
import { Provider } from './called-record.ts';
import type { WholeMethod } from './work.ts';

const KIB = 1024;
/** Errors, and all that is a number or a name. */
const OF_ANY = 64 * KIB;
/** The longest vectors have 16,384 numbers, which are four bytes each, or a third more in JSON. */
const OF_VECTOR = 96 * KIB;
const OF_SCORE = 32;
/** A token takes so much of the answer to a text of which each byte is one. */
const OF_TOKEN = 6;
/** The longest pieces of vocabularies are runs of spaces. */
const OF_PIECE = 4 * KIB;
const MOST = 512 * 2 ** 20;

const isCount = compileLazily(Type.Integer({ minimum: 0, maximum: 2 ** 31 }));
const Counts = Type.Array(Type.Integer({ minimum: 0, maximum: 2 ** 31 }));
const isMeasured = compileLazily(
  Type.Object({ nTokens: Counts, truncated: Type.Optional(Counts), provider: Type.Optional(Provider) }),
);

export function mostBytesOf(method: WholeMethod, [first, second]: readonly unknown[]): number {
  return Math.min(MOST, OF_ANY + sizeOf(method, first, second));
}

function sizeOf(method: WholeMethod, first: unknown, second: unknown): number {
  if (method === 'embed') return lengthOf(first) * OF_VECTOR;
  if (method === 'rank') return lengthOf(second) * OF_SCORE;
  if (method === 'tokenize') return lengthOf(first) * (typeof first === 'string' ? 4 : 1) * OF_TOKEN;
  return method === 'detokenize' ? lengthOf(first) * OF_PIECE : 0;
}

/** Whether it answers what was asked. */
export function isAnswerTo(method: WholeMethod, [first, second]: readonly unknown[], value: unknown): boolean {
  const { vectors, scores } = (value ?? {}) as { vectors?: unknown; scores?: unknown };
  if (method === 'embed')
    return isMeasured.Check(value) && Array.isArray(vectors) && vectors.length === lengthOf(first) && vectors.every(isVector);
  if (method === 'rank') return isMeasured.Check(value) && isVector(scores) && scores.length === lengthOf(second);
  if (method === 'tokenize') return value instanceof Int32Array;
  if (method === 'detokenize') return typeof value === 'string';
  return method === 'contentHash' ? typeof value === 'string' && value.length <= 200 : isCount.Check(value);
}

function isVector(value: unknown): value is Float32Array {
  return value instanceof Float32Array && value.every(Number.isFinite);
}

function lengthOf(value: unknown): number {
  return (value as ArrayLike<unknown> | undefined)?.length ?? 0;
}

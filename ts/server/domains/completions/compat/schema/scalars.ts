/** Numbers and strings of a place in the words that the engine follows. */
import type { Members } from '../members.ts';
import { formats } from './formats.ts';
import { isNumber } from './forms.ts';
import { type NumberBounds, numberRange, wholes } from './number-range.ts';
import { lengthsOf, withLengths } from './pattern.ts';
import { maxRepetitions, type PatternNode } from './pattern-tree.ts';
import { writePattern } from './pattern-writer.ts';
import { isSame } from './satisfies.ts';
import type { LeaveOut, SchemaDocument } from './schema-document.ts';

/** The schema that stands for a number between bounds: the engine puts this grammar in the place of the value. */
const grammarMark = '\u0000gbnf';

/** The tree that the pattern of a written string was made of. */
export const patternOf = new WeakMap<Members, PatternNode>();

const maxListed = 256;
const maxWhole = 10 ** 15 - 1;

export function writeNumber(members: readonly Members[], isInteger: boolean, leaveOut: LeaveOut): Members | undefined {
  const bounds = { min: -Infinity, isMinExclusive: false, max: Infinity, isMaxExclusive: false };
  const factors: [Members, number][] = [];
  for (const schema of members) {
    const { minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf } = schema;
    if (isNumber(minimum) && minimum > bounds.min) Object.assign(bounds, { min: minimum, isMinExclusive: false });
    if (isNumber(exclusiveMinimum) && exclusiveMinimum >= bounds.min)
      Object.assign(bounds, { min: exclusiveMinimum, isMinExclusive: true });
    if (isNumber(maximum) && maximum < bounds.max) Object.assign(bounds, { max: maximum, isMaxExclusive: false });
    if (isNumber(exclusiveMaximum) && exclusiveMaximum <= bounds.max)
      Object.assign(bounds, { max: exclusiveMaximum, isMaxExclusive: true });
    if (isNumber(multipleOf) && multipleOf > 0) factors.push([schema, multipleOf]);
  }
  if (bounds.min > bounds.max || (bounds.min === bounds.max && (bounds.isMinExclusive || bounds.isMaxExclusive)))
    return undefined;
  const isWhole = isInteger || factors.some(([, factor]) => Number.isInteger(factor));
  const left = factors.filter(([, factor]) => !(isWhole && Number.isInteger(Math.log2(1 / factor)) && factor <= 1));
  const written = isWhole ? writeInteger(bounds, left, leaveOut) : writeDecimal(bounds, left, leaveOut);
  if (written !== 'too long') return written;
  for (const schema of members)
    for (const keyword of ['minimum', 'exclusiveMinimum', 'maximum', 'exclusiveMaximum'])
      if (schema[keyword] !== undefined) leaveOut(schema, keyword);
  return { type: isWhole ? 'integer' : 'number' };
}

function writeDecimal(bounds: NumberBounds, factors: readonly [Members, number][], leaveOut: LeaveOut): Members | 'too long' {
  for (const [schema] of factors) leaveOut(schema, 'multipleOf');
  if (bounds.min === -Infinity && bounds.max === Infinity) return { type: 'number' };
  const grammar = numberRange(bounds);
  return grammar === undefined ? 'too long' : { const: [grammarMark, grammar] };
}

function writeInteger(
  bounds: NumberBounds,
  factors: readonly [Members, number][],
  leaveOut: LeaveOut,
): Members | undefined | 'too long' {
  const { min, isMinExclusive, max, isMaxExclusive } = bounds;
  const least = isMinExclusive ? Math.floor(min) + 1 : Math.ceil(min);
  const most = isMaxExclusive ? Math.ceil(max) - 1 : Math.floor(max);
  if (least > most) return undefined;
  const low = Math.max(least, -maxWhole);
  const high = Math.min(most, maxWhole);
  if (low > high) return 'too long';
  if (factors.length === 0) {
    if (min === -Infinity && max === Infinity) return { type: 'integer' };
    const options = [
      ...(low < 0 ? [`"-" (${wholes(BigInt(Math.max(0, -high)), BigInt(-low))})`] : []),
      ...(high >= 0 ? [wholes(BigInt(Math.max(0, low)), BigInt(high))] : []),
    ];
    return { const: [grammarMark, options.join(' | ')] };
  }
  const whole = factors.filter(([, factor]) => Number.isInteger(factor));
  const step = whole.map(([, factor]) => factor).reduce(leastCommonMultiple, 1);
  if (whole.length === factors.length && (high - low) / step <= maxListed) {
    const values: number[] = [];
    for (let value = Math.ceil(low / step) * step; value <= high; value += step) values.push(value === 0 ? 0 : value);
    return ofValues(values);
  }
  for (const [schema] of factors) leaveOut(schema, 'multipleOf');
  return writeInteger(bounds, [], leaveOut);
}

export function writeString(members: readonly Members[], document: SchemaDocument, leaveOut: LeaveOut): Members | undefined {
  let min = 0;
  let max = Infinity;
  const patterns: { owner: Members; keyword: string; node: PatternNode; text: string }[] = [];
  const lengths: [Members, string][] = [];
  for (const schema of members) {
    for (const keyword of ['minLength', 'maxLength'] as const) {
      const value = schema[keyword];
      if (!isNumber(value)) continue;
      lengths.push([schema, keyword]);
      if (keyword === 'minLength') min = Math.max(min, value);
      else max = Math.min(max, value);
    }
    for (const keyword of ['contentEncoding', 'contentMediaType'])
      if (document.isOlder && schema[keyword] !== undefined) leaveOut(schema, keyword);
    for (const keyword of ['pattern', 'format'] as const) {
      const value = schema[keyword];
      if (typeof value !== 'string') continue;
      const text = keyword === 'pattern' ? value : formats.get(value);
      const node = text === undefined ? undefined : document.pattern(text, schema);
      if (node === undefined || text === undefined) leaveOut(schema, keyword);
      else if (!patterns.some((other) => other.text === text)) patterns.push({ owner: schema, keyword, node, text });
    }
  }
  if (min > max) return undefined;
  patterns.sort((a, b) => (a.keyword === b.keyword ? 0 : a.keyword === 'pattern' ? -1 : 1));
  const [pattern, ...others] = patterns;
  for (const { owner, keyword } of others) leaveOut(owner, keyword);
  if (pattern) return writePatterned(pattern, { min, max, lengths, leaveOut });
  if (min > maxRepetitions || (Number.isFinite(max) && max > maxRepetitions)) {
    for (const [schema, keyword] of lengths) if (Number(schema[keyword]) > maxRepetitions) leaveOut(schema, keyword);
    if (min > maxRepetitions) min = 0;
    if (max > maxRepetitions) max = Infinity;
  }
  return { type: 'string', ...(min > 0 && { minLength: min }), ...(Number.isFinite(max) && { maxLength: max }) };
}

function writePatterned(
  { owner, keyword, node }: { owner: Members; keyword: string; node: PatternNode },
  { min, max, lengths, leaveOut }: { min: number; max: number; lengths: readonly [Members, string][]; leaveOut: LeaveOut },
): Members | undefined {
  const [least, most] = lengthsOf(node);
  // The patterns of formats leave some of their strings out.
  if (keyword === 'pattern' && (least > max || most < min)) return undefined;
  const bounded = withLengths(node, min, max);
  if (!bounded) for (const [schema, bound] of lengths) leaveOut(schema, bound);
  try {
    const pattern = writePattern(bounded ?? node);
    if (pattern === '^$') return { const: '' };
    const written = { type: 'string', pattern };
    patternOf.set(written, bounded ?? node);
    return written;
  } catch {
    leaveOut(owner, keyword);
    return { type: 'string' };
  }
}

export function ofValues(values: readonly unknown[]): Members | undefined {
  const distinct = values.filter((value, index) => !values.slice(0, index).some((other) => isSame(value, other)));
  if (distinct.length === 0) return undefined;
  return distinct.length === 1 ? { const: distinct[0] } : { enum: distinct };
}

function leastCommonMultiple(a: number, b: number): number {
  let [x, y] = [a, b];
  while (y > 0) [x, y] = [y, x % y];
  return (a / x) * b;
}

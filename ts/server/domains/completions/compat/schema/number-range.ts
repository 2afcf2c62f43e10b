/** Numbers between bounds as GBNF: the notations of decimals without an exponent. */

export interface NumberBounds {
  min: number;
  isMinExclusive: boolean;
  max: number;
  isMaxExclusive: boolean;
}

/** A decimal of no sign, its fraction without zeros at the end. */
interface Decimal {
  whole: bigint;
  fraction: string;
}

/** Doubles tell decimals of so many digits apart. */
const maxDigits = 15;
const most: Decimal = { whole: 10n ** 15n - 1n, fraction: '' };

/** Undefined: no such number can be written in so many digits. */
export function numberRange({ min, isMinExclusive, max, isMaxExclusive }: NumberBounds): string | undefined {
  if (min >= 1e15 || max <= -1e15) return undefined;
  const low = decimalOf(Math.abs(min));
  const high = decimalOf(Math.abs(max));
  const nExclusive = [...(isMinExclusive ? [low] : []), ...(isMaxExclusive ? [high] : [])].map((bound) => nWholeDigits(bound));
  const nFraction = maxDigits - Math.max(0, ...nExclusive);
  const isExact = (bound: Decimal | undefined) => bound !== undefined && bound.fraction.length <= nFraction;
  if (!low || !high || nFraction < 1 || (isMinExclusive && !isExact(low)) || (isMaxExclusive && !isExact(high))) return undefined;
  const options: string[] = [];
  // Negative numbers run the other way.
  if (min < 0) {
    const text = range(max <= 0 ? high : zero, max <= 0 && isMaxExclusive, low, isMinExclusive, nFraction);
    if (text) options.push(`"-" (${text})`);
  }
  if (max >= 0) {
    const text = range(min >= 0 ? low : zero, min >= 0 && isMinExclusive, high, isMaxExclusive, nFraction);
    if (text) options.push(text);
  }
  return options.length === 0 ? undefined : options.join(' | ');
}

const zero: Decimal = { whole: 0n, fraction: '' };

function nWholeDigits(bound: Decimal | undefined): number {
  return !bound || bound.whole === 0n ? 0 : String(bound.whole).length;
}

/** Undefined: its fraction is too long. */
function decimalOf(value: number): Decimal | undefined {
  if (value >= 1e15) return most;
  const [mantissa = '', exponent = '0'] = String(value).split('e');
  const [whole = '0', fraction = ''] = mantissa.split('.');
  // Only small numbers have an exponent here.
  const zeros = -Number(exponent);
  const digits = zeros > 0 ? `${'0'.repeat(zeros - whole.length)}${whole}${fraction}` : fraction;
  const first = zeros > 0 ? 0n : BigInt(whole);
  if (digits.length > 30) return undefined;
  return { whole: first, fraction: digits.replace(/(?<!0)0+$/, '') };
}

function compare(a: Decimal, b: Decimal): number {
  if (a.whole !== b.whole) return a.whole < b.whole ? -1 : 1;
  const width = Math.max(a.fraction.length, b.fraction.length);
  const [x, y] = [a.fraction.padEnd(width, '0'), b.fraction.padEnd(width, '0')];
  return x === y ? 0 : x < y ? -1 : 1;
}

/** From low to high, which are not negative. */
function range(
  low: Decimal,
  isLowExclusive: boolean,
  high: Decimal,
  isHighExclusive: boolean,
  nFraction: number,
): string | undefined {
  const order = compare(low, high);
  if (order > 0 || (order === 0 && (isLowExclusive || isHighExclusive))) return undefined;
  if (low.whole === high.whole) {
    const text = fractions(low.fraction, isLowExclusive, high.fraction, isHighExclusive, nFraction);
    return text && `"${low.whole}" ${text}`;
  }
  const options: string[] = [];
  const first = fractions(low.fraction, isLowExclusive, undefined, false, nFraction);
  if (first) options.push(`"${low.whole}" ${first}`);
  if (high.whole - low.whole > 1n) options.push(`(${wholes(low.whole + 1n, high.whole - 1n)}) ${anyFraction(nFraction)}`);
  const last = fractions('', false, high.fraction, isHighExclusive, nFraction);
  if (last) options.push(`"${high.whole}" ${last}`);
  return options.join(' | ');
}

function anyFraction(nFraction: number): string {
  return `("." [0-9]{1,${nFraction}})?`;
}

/** Behind the whole part: those from low on, and to high where there is one. Undefined: none. */
function fractions(
  low: string,
  isLowExclusive: boolean,
  high: string | undefined,
  isHighExclusive: boolean,
  nFraction: number,
): string | undefined {
  if (low === '' && !isLowExclusive && high === undefined) return anyFraction(nFraction);
  const text = digits(low, isLowExclusive, high, isHighExclusive, nFraction);
  // The number without a fraction.
  const hasNone = low === '' && !isLowExclusive && (high !== '' || !isHighExclusive);
  if (text === undefined) return hasNone ? '""' : undefined;
  return hasNone ? `("." (${text}))?` : `"." (${text})`;
}

/** One digit and those behind it. `low` is what the digits are at least, `high` at most; undefined: without that bound. */
function digits(
  low: string | undefined,
  isLowExclusive: boolean,
  high: string | undefined,
  isHighExclusive: boolean,
  nLeft: number,
): string | undefined {
  if (nLeft === 0) return undefined;
  if (high === '' && !isHighExclusive && (low === undefined || (low === '' && !isLowExclusive))) return `"0"{1,${nLeft}}`;
  const options: string[] = [];
  const lowDigit = low === undefined ? 0 : Number(low[0] ?? '0');
  const highDigit = high === undefined ? 9 : Number(high[0] ?? '0');
  for (let digit = lowDigit; digit <= highDigit; digit++) {
    const isAtLow = low !== undefined && digit === lowDigit;
    const isAtHigh = high !== undefined && digit === highDigit;
    if (!isAtLow && !isAtHigh) {
      // All digits between are one class.
      const last = high === undefined ? 9 : highDigit - 1;
      options.push(`[${digit}-${last}]${nLeft > 1 ? ` [0-9]{0,${nLeft - 1}}` : ''}`);
      digit = last;
      continue;
    }
    const lowRest = isAtLow ? low.slice(1) : undefined;
    const highRest = isAtHigh ? high.slice(1) : undefined;
    // It may end here where what is left of both bounds is nothing but zeros, or less than what the upper one has.
    const mayEnd =
      (lowRest === undefined || (lowRest === '' && !isLowExclusive)) &&
      (highRest === undefined || highRest !== '' || !isHighExclusive);
    const isFreeBelow = lowRest === '' && !isLowExclusive;
    const rest = digits(isFreeBelow ? undefined : lowRest, isLowExclusive, highRest, isHighExclusive, nLeft - 1);
    if (rest === undefined && !mayEnd) continue;
    options.push(rest === undefined ? `"${digit}"` : mayEnd ? `"${digit}" (${rest})?` : `"${digit}" (${rest})`);
  }
  return options.length === 0 ? undefined : options.join(' | ');
}

/** Whole numbers from low to high, which are not negative. */
export function wholes(low: bigint, high: bigint): string {
  const options: string[] = [];
  for (let from = low; from <= high; ) {
    const width = String(from).length;
    const end = 10n ** BigInt(width) - 1n;
    const to = end < high ? end : high;
    options.push(ofWidth(String(from), String(to)));
    from = to + 1n;
  }
  return options.join(' | ');
}

function ofWidth(low: string, high: string): string {
  const [first = '0'] = low;
  const [last = '0'] = high;
  const nRest = low.length - 1;
  if (nRest === 0) return first === last ? `"${first}"` : `[${first}-${last}]`;
  const anyRest = `[0-9]{${nRest}}`;
  const [lowRest, highRest] = [low.slice(1), high.slice(1)];
  if (first === last) return `"${first}" (${ofWidth(lowRest, highRest)})`;
  const [isLowFull, isHighFull] = [/^0*$/.test(lowRest), /^9*$/.test(highRest)];
  const [from, to] = [Number(first) + (isLowFull ? 0 : 1), Number(last) - (isHighFull ? 0 : 1)];
  return [
    ...(isLowFull ? [] : [`"${first}" (${ofWidth(lowRest, '9'.repeat(nRest))})`]),
    ...(from > to ? [] : [`[${from}-${to}] ${anyRest}`]),
    ...(isHighFull ? [] : [`"${last}" (${ofWidth('0'.repeat(nRest), highRest)})`]),
  ].join(' | ');
}

/**
 * Writes patterns as llama.cpp's converter follows them. That one puts the letters of a pattern between quotation marks as they are, so a letter
 * that JSON escapes stands here as its escape.
 */
import { maxRepetitions, type PatternNode, type Range, UnfollowedPattern } from './pattern-tree.ts';

/** Throws UnfollowedPattern where the engine repeats no more. */
export function writePattern(node: PatternNode): string {
  return `^${new PatternWriter().write(node)}$`;
}

const shortEscapes = new Map([
  [0x22, '\\x22'],
  [0x5c, '\\x5C'],
  [0x08, 'b'],
  [0x0c, 'f'],
  [0x0a, 'n'],
  [0x0d, 'r'],
  [0x09, 't'],
]);

class PatternWriter {
  #nRepetitions = 0;

  write(node: PatternNode): string {
    switch (node.kind) {
      case 'set':
        return writeSet(node.ranges);
      case 'sequence':
        return node.parts.map((part) => this.write(part)).join('');
      case 'choice':
        return this.#choice(node.options);
      case 'repeat':
        return this.#repeat(node);
      default:
        return '';
    }
  }

  #choice(options: readonly PatternNode[]): string {
    const texts = [...new Set(options.map((option) => this.write(option)))];
    const some = texts.filter((text) => text !== '');
    if (some.length === 0) return '';
    return `(?:${some.join('|')})${some.length < texts.length ? '?' : ''}`;
  }

  #repeat({ of, min, max }: PatternNode & { kind: 'repeat' }): string {
    const text = this.write(of);
    if (text === '' || max === 0) return '';
    this.#nRepetitions += Number.isFinite(max) ? max : min;
    if (this.#nRepetitions > maxRepetitions) throw new UnfollowedPattern(`it repeats more than ${maxRepetitions} times`);
    if (min > max) throw new UnfollowedPattern('no string has so many characters');
    const times = Number.isFinite(max) ? `{${min},${max}}` : min === 0 ? '*' : min === 1 ? '+' : `{${min},}`;
    return `(?:${text})${times}`;
  }
}

function writeSet(ranges: readonly Range[]): string {
  // UTF-8 holds no surrogates.
  const raw = ranges.flatMap(([low, high]) =>
    without(without([[Math.max(low, 0x20), high]], 0xd800, 0xdfff), 0x22, 0x22).flatMap((range) => without([range], 0x5c, 0x5c)),
  );
  const has = (code: number) => ranges.some(([low, high]) => low <= code && code <= high);
  const escapes = [...shortEscapes].filter(([code]) => has(code)).map(([, text]) => text);
  const long = Array.from({ length: 0x20 }, (_, code) => code).filter((code) => has(code) && !shortEscapes.has(code));
  const digits = (row: number) =>
    long
      .filter((code) => code >> 4 === row)
      .map((code) => (code & 15).toString(16))
      .join('');
  const only = raw.length === 1 && raw[0]?.[0] === raw[0]?.[1] ? String.fromCodePoint(raw[0]?.[0] as number) : '';
  const options = [
    ...(raw.length === 0 ? [] : [/^[A-Za-z0-9 ]$/.test(only) ? only : `[${raw.map(writeRange).join('')}]`]),
    ...(escapes.length === 0 ? [] : [`[\\x5C][${escapes.join('')}]`]),
    ...[0, 1].filter((row) => digits(row) !== '').map((row) => `[\\x5C]u00${row}[${digits(row)}]`),
  ];
  if (options.length === 0) throw new UnfollowedPattern('a class in it has no characters');
  return options.length === 1 ? (options[0] as string) : `(?:${options.join('|')})`;
}

function without(ranges: readonly Range[], low: number, high: number): Range[] {
  return ranges.flatMap(([begin, end]) =>
    (
      [
        [begin, Math.min(end, low - 1)],
        [Math.max(begin, high + 1), end],
      ] as const
    ).filter(([from, to]) => from <= to),
  );
}

function writeRange([low, high]: Range): string {
  return low === high ? writeCode(low) : `${writeCode(low)}-${writeCode(high)}`;
}

function writeCode(code: number): string {
  return `\\U${code.toString(16).toUpperCase().padStart(8, '0')}`;
}

/** Reads the regular expressions of ECMA-262 into trees. */
import { maxCodePoint, type PatternNode, type Range, UnfollowedPattern } from './pattern-tree.ts';

const maxDepth = 50;

const digit: readonly Range[] = [[0x30, 0x39]];
const word: readonly Range[] = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
const space: readonly Range[] = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
const lineEnds: readonly Range[] = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
];
function sorted(ranges: readonly Range[]): Range[] {
  const joined: [number, number][] = [];
  for (const [low, high] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const last = joined.at(-1);
    if (last && low <= last[1] + 1) last[1] = Math.max(last[1], high);
    else joined.push([low, high]);
  }
  return joined;
}

function complement(ranges: readonly Range[]): Range[] {
  const left: Range[] = [];
  let next = 0;
  for (const [low, high] of sorted(ranges)) {
    if (low > next) left.push([next, low - 1]);
    next = high + 1;
  }
  if (next <= maxCodePoint) left.push([next, maxCodePoint]);
  return left;
}

export class PatternReader {
  readonly #letters: readonly string[];
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#letters = [...text];
  }

  read(): PatternNode {
    const node = this.#choice();
    if (this.#at < this.#letters.length) throw new UnfollowedPattern('a parenthesis is not balanced');
    return node;
  }

  #take(letter: string): boolean {
    if (this.#letters[this.#at] !== letter) return false;
    this.#at++;
    return true;
  }

  #next(): string {
    const letter = this.#letters[this.#at++];
    if (letter === undefined) throw new UnfollowedPattern('it ends too early');
    return letter;
  }

  #choice(): PatternNode {
    if (++this.#depth > maxDepth) throw new UnfollowedPattern('its groups are nested too deeply');
    const options = [this.#sequence()];
    while (this.#take('|')) options.push(this.#sequence());
    this.#depth--;
    return options.length === 1 ? (options[0] as PatternNode) : { kind: 'choice', options };
  }

  #sequence(): PatternNode {
    const parts: PatternNode[] = [];
    for (
      let letter = this.#letters[this.#at];
      letter !== undefined && letter !== '|' && letter !== ')';
      letter = this.#letters[this.#at]
    )
      parts.push(this.#repeated(this.#atom()));
    return parts.length === 1 ? (parts[0] as PatternNode) : { kind: 'sequence', parts };
  }

  #repeated(of: PatternNode): PatternNode {
    const times = this.#times();
    if (!times) return of;
    this.#take('?');
    if (of.kind === 'begin' || of.kind === 'end') throw new UnfollowedPattern('an anchor is repeated');
    return { kind: 'repeat', of, ...times };
  }

  #times(): { min: number; max: number } | undefined {
    if (this.#take('*')) return { min: 0, max: Infinity };
    if (this.#take('+')) return { min: 1, max: Infinity };
    if (this.#take('?')) return { min: 0, max: 1 };
    const rest = this.#letters.slice(this.#at, this.#at + 24).join('');
    const found = /^\{(\d{1,9})(,?)(\d{0,9})\}/.exec(rest);
    if (!found) return undefined;
    this.#at += found[0].length;
    const min = Number(found[1]);
    return { min, max: found[2] === '' ? min : found[3] === '' ? Infinity : Number(found[3]) };
  }

  #atom(): PatternNode {
    const letter = this.#next();
    switch (letter) {
      case '.':
        return { kind: 'set', ranges: complement(lineEnds) };
      case '^':
        return { kind: 'begin' };
      case '$':
        return { kind: 'end' };
      case '(':
        return this.#group();
      case '[':
        return this.#class();
      case '\\': {
        const escaped = this.#escape(false);
        return { kind: 'set', ranges: typeof escaped === 'number' ? [[escaped, escaped]] : escaped };
      }
      case '*':
      case '+':
      case '?':
        throw new UnfollowedPattern('nothing is repeated');
      default: {
        const code = letter.codePointAt(0) as number;
        return { kind: 'set', ranges: [[code, code]] };
      }
    }
  }

  #group(): PatternNode {
    if (this.#take('?')) {
      const named = this.#take('<') && this.#letters[this.#at] !== '=' && this.#letters[this.#at] !== '!';
      if (named) while (this.#next() !== '>');
      else if (!this.#take(':')) throw new UnfollowedPattern('it looks ahead or behind, or sets flags');
    }
    const inner = this.#choice();
    if (!this.#take(')')) throw new UnfollowedPattern('a parenthesis is not balanced');
    return inner;
  }

  #class(): PatternNode {
    const isNegated = this.#take('^');
    const ranges: Range[] = [];
    while (!this.#take(']')) {
      const low = this.#classAtom();
      if (this.#letters[this.#at] === '-' && this.#letters[this.#at + 1] !== ']') {
        this.#at++;
        const high = this.#classAtom();
        if (typeof low === 'number' && typeof high === 'number') ranges.push([low, high]);
        else ranges.push([0x2d, 0x2d], ...rangesOf(low), ...rangesOf(high));
      } else {
        ranges.push(...rangesOf(low));
      }
    }
    return { kind: 'set', ranges: isNegated ? complement(ranges) : sorted(ranges) };
  }

  #classAtom(): number | readonly Range[] {
    const letter = this.#next();
    return letter === '\\' ? this.#escape(true) : (letter.codePointAt(0) as number);
  }

  #escape(isInClass: boolean): number | readonly Range[] {
    const letter = this.#next();
    switch (letter) {
      case 'd':
        return digit;
      case 'D':
        return complement(digit);
      case 'w':
        return word;
      case 'W':
        return complement(word);
      case 's':
        return space;
      case 'S':
        return complement(space);
      case 'n':
        return 0x0a;
      case 'r':
        return 0x0d;
      case 't':
        return 0x09;
      case 'f':
        return 0x0c;
      case 'v':
        return 0x0b;
      case 'x':
        return this.#hex(2);
      case 'u':
        return this.#unicode();
      case 'b':
        if (isInClass) return 0x08;
        throw new UnfollowedPattern('it seeks the borders of words');
      case '0':
        if (!/\d/.test(this.#letters[this.#at] ?? '')) return 0;
        throw new UnfollowedPattern('it has an octal escape');
      default:
        if (/[A-Za-z1-9]/.test(letter)) throw new UnfollowedPattern(`it has the escape \\${letter}`);
        return letter.codePointAt(0) as number;
    }
  }

  #hex(nDigits: number): number {
    const digits = this.#letters.slice(this.#at, this.#at + nDigits).join('');
    if (digits.length < nDigits || !/^[0-9a-fA-F]+$/.test(digits)) throw new UnfollowedPattern('an escape lacks its digits');
    this.#at += nDigits;
    return Number.parseInt(digits, 16);
  }

  #unicode(): number {
    if (!this.#take('{')) {
      const high = this.#hex(4);
      const pair = this.#letters.slice(this.#at, this.#at + 6).join('');
      if (high < 0xd800 || high > 0xdbff || !/^\\u[dD][c-fC-F][0-9a-fA-F]{2}$/.test(pair)) return high;
      this.#at += 6;
      return 0x10000 + ((high - 0xd800) << 10) + (Number.parseInt(pair.slice(2), 16) - 0xdc00);
    }
    let digits = '';
    for (let letter = this.#next(); letter !== '}'; letter = this.#next()) digits += letter;
    const code = /^[0-9a-fA-F]{1,6}$/.test(digits) ? Number.parseInt(digits, 16) : Infinity;
    if (code > maxCodePoint) throw new UnfollowedPattern('an escape names no character');
    return code;
  }
}

function rangesOf(atom: number | readonly Range[]): readonly Range[] {
  return typeof atom === 'number' ? [[atom, atom]] : atom;
}

/** The condition of a Sigma rule: selections joined by `and`, `or`, `not`, `1 of` and `all of`. */
import { InvalidRule, Unsupported } from './sigma-value.ts';

/** Tells of each selection by its name whether it holds. */
type Selections = (name: string) => boolean;
export type Condition = (holds: Selections) => boolean;

const TOKEN = /\s*(\(|\)|[A-Za-z0-9_*.-]+)/y;
const MOST_DEPTH = 50;

/** Throws InvalidRule or Unsupported. */
export function conditionOf(text: string, names: readonly string[]): Condition {
  if (text.includes('|')) throw new Unsupported('an aggregation within a condition; write a correlation');
  return new ConditionParser(tokensOf(text), names).parse();
}

function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  for (let at = 0; text.slice(at).trim() !== ''; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const [, token] = TOKEN.exec(text) ?? [];
    if (token === undefined) throw new InvalidRule(`the condition cannot be read from character ${at + 1} on`);
    tokens.push(token);
  }
  return tokens;
}

class ConditionParser {
  readonly #tokens: readonly string[];
  readonly #names: readonly string[];
  #at = 0;
  #depth = 0;

  constructor(tokens: readonly string[], names: readonly string[]) {
    this.#tokens = tokens;
    this.#names = names;
  }

  parse(): Condition {
    const condition = this.#either();
    const rest = this.#tokens[this.#at];
    if (rest !== undefined) throw new InvalidRule(`the condition goes on with ${rest} behind its end`);
    return condition;
  }

  #either(): Condition {
    const parts = [this.#both()];
    while (this.#take('or')) parts.push(this.#both());
    return parts.length === 1 ? (parts[0] as Condition) : (holds) => parts.some((part) => part(holds));
  }

  #both(): Condition {
    const parts = [this.#one()];
    while (this.#take('and')) parts.push(this.#one());
    return parts.length === 1 ? (parts[0] as Condition) : (holds) => parts.every((part) => part(holds));
  }

  #one(): Condition {
    if (++this.#depth > MOST_DEPTH) throw new Unsupported('a condition that is nested so deeply');
    try {
      return this.#nested();
    } finally {
      this.#depth -= 1;
    }
  }

  #nested(): Condition {
    if (this.#take('not')) {
      const inner = this.#one();
      return (holds) => !inner(holds);
    }
    if (this.#take('(')) {
      const inner = this.#either();
      if (!this.#take(')')) throw new InvalidRule('a parenthesis of the condition is not closed');
      return inner;
    }
    const token = this.#tokens[this.#at++];
    if (token === undefined) throw new InvalidRule('the condition ends too early');
    if (this.#take('of')) return this.#some(token);
    if (!this.#names.includes(token)) throw new InvalidRule(`the condition names ${token}, which is no selection`);
    return (holds) => holds(token);
  }

  #some(count: string): Condition {
    const isAll = count.toLowerCase() === 'all';
    if (!isAll && count !== '1') throw new Unsupported(`${count} of selections`);
    const given = this.#tokens[this.#at++] ?? '';
    const names = this.#matching(given);
    if (names.length === 0) throw new InvalidRule(`no selection is called ${given}`);
    return (holds) => (isAll ? names.every(holds) : names.some(holds));
  }

  /** Selections whose names begin with `_` are no part of `them`. */
  #matching(given: string): string[] {
    if (given.toLowerCase() === 'them') return this.#names.filter((name) => !name.startsWith('_'));
    const pieces = given.split('*').map((piece) => piece.replaceAll('.', '\\.'));
    const pattern = new RegExp(`^${pieces.join('[^]*')}$`);
    return this.#names.filter((name) => pattern.test(name));
  }

  #take(token: string): boolean {
    if (this.#tokens[this.#at]?.toLowerCase() !== token) return false;
    this.#at += 1;
    return true;
  }
}

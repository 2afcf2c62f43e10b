/** Reads a filter: `or` binds weakest, then `and`, then `not`. */
import { invalidScim } from '../scim-error.ts';
import { type Filter, type FilterValue, OPERATORS, type Operator } from './filter.ts';
import { type Token, tokensOf } from './tokens.ts';

/** Deeper nesting serves no directory, and would overflow the stack. */
const MAX_DEPTH = 50;

/** Throws invalidFilter. */
export function parseFilter(text: string): Filter {
  const parser = new FilterParser(tokensOf(text));
  const filter = parser.or();
  parser.end();
  return filter;
}

class FilterParser {
  readonly #tokens: readonly Token[];
  #at = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  or(): Filter {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw invalidScim('invalidFilter', `A filter is nested at most ${MAX_DEPTH} levels deep.`);
    let left = this.#and();
    while (this.#takeWord('or')) left = { kind: 'or', left, right: this.#and() };
    this.#depth -= 1;
    return left;
  }

  end(): void {
    if (this.#at < this.#tokens.length) throw this.#unexpected('the end');
  }

  #and(): Filter {
    let left = this.#term();
    while (this.#takeWord('and')) left = { kind: 'and', left, right: this.#term() };
    return left;
  }

  #term(): Filter {
    if (this.#takeWord('not')) {
      this.#expect('(');
      return { kind: 'not', filter: this.#closed(')') };
    }
    if (this.#peek()?.kind === '(') {
      this.#at += 1;
      return this.#closed(')');
    }
    return this.#expression();
  }

  #expression(): Filter {
    const path = this.#word('an attribute');
    if (this.#peek()?.kind === '[') {
      this.#at += 1;
      return { kind: 'element', path, filter: this.#closed(']') };
    }
    const operator = this.#word('an operator').toLowerCase();
    if (operator === 'pr') return { kind: 'present', path };
    if (!(OPERATORS as readonly string[]).includes(operator)) {
      throw invalidScim('invalidFilter', `${operator.slice(0, 20)} is no operator; use pr, ${OPERATORS.join(', ')}.`);
    }
    return { kind: 'compare', path, operator: operator as Operator, value: this.#value() };
  }

  #closed(sign: ')' | ']'): Filter {
    const filter = this.or();
    this.#expect(sign);
    return filter;
  }

  #value(): FilterValue {
    const token = this.#peek();
    if (token?.kind !== 'value') throw this.#unexpected('a value, like "bob"');
    this.#at += 1;
    return token.value;
  }

  #word(what: string): string {
    const token = this.#peek();
    if (token?.kind !== 'word') throw this.#unexpected(what);
    this.#at += 1;
    return token.text;
  }

  #takeWord(text: string): boolean {
    const token = this.#peek();
    const isThere = token?.kind === 'word' && token.text.toLowerCase() === text;
    if (isThere) this.#at += 1;
    return isThere;
  }

  #expect(sign: '(' | ')' | ']'): void {
    if (this.#peek()?.kind !== sign) throw this.#unexpected(sign);
    this.#at += 1;
  }

  #peek(): Token | undefined {
    return this.#tokens[this.#at];
  }

  #unexpected(wanted: string): Error {
    const token = this.#peek();
    const found = token === undefined ? 'the end' : token.kind === 'word' ? token.text : token.kind;
    return invalidScim('invalidFilter', `The filter needs ${wanted} where it has ${found.slice(0, 60)}.`);
  }
}

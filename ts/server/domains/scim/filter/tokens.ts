/** The text of a filter, cut into tokens. */
import { invalidScim } from '../scim-error.ts';
import type { FilterValue } from './filter.ts';

export type Token = { kind: 'word'; text: string } | { kind: 'value'; value: FilterValue } | { kind: '(' | ')' | '[' | ']' };

export const MAX_FILTER_LENGTH = 4096;
const SPACE = /[ \t\r\n]+/y;
/** JSON.parse() refuses what is no JSON string. */
const STRING = /"(?:[^"\\]|\\.)*"/y;
const NUMBER = /-?\d{1,20}(?:\.\d{1,20})?(?=[\s)\]]|$)/y;
/** A URN holds colons and dots itself: urn:ietf:params:scim:schemas:core:2.0:User:userName. */
const WORD = /[A-Za-z$][\w$.:-]*/y;

/** Throws invalidFilter. */
export function tokensOf(text: string): Token[] {
  if (text.length > MAX_FILTER_LENGTH)
    throw invalidScim('invalidFilter', `A filter has at most ${MAX_FILTER_LENGTH} characters.`);
  const tokens: Token[] = [];
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    at += found?.length ?? 0;
    return found;
  };
  while (at < text.length) {
    if (take(SPACE) !== undefined) continue;
    const sign = text[at] as string;
    if (sign === '(' || sign === ')' || sign === '[' || sign === ']') {
      tokens.push({ kind: sign });
      at += 1;
      continue;
    }
    tokens.push(valueToken(take(STRING)) ?? valueToken(take(NUMBER)) ?? wordToken(take(WORD)) ?? unreadable(text, at));
  }
  return tokens;
}

function valueToken(text: string | undefined): Token | undefined {
  if (text === undefined) return undefined;
  try {
    return { kind: 'value', value: JSON.parse(text) as FilterValue };
  } catch {
    throw invalidScim('invalidFilter', `${text.slice(0, 60)} is no JSON value.`);
  }
}

function wordToken(text: string | undefined): Token | undefined {
  if (text === undefined) return undefined;
  const literals: Readonly<Record<string, FilterValue>> = { true: true, false: false, null: null };
  const word = text.toLowerCase();
  return Object.hasOwn(literals, word) ? { kind: 'value', value: literals[word] ?? null } : { kind: 'word', text };
}

function unreadable(text: string, at: number): never {
  throw invalidScim('invalidFilter', `The filter cannot be read from character ${at + 1} on: ${text.slice(at, at + 20)}`);
}

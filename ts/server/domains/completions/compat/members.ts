/** Reads members of loosely typed JSON with errors that name the member. */
import { randomBytes } from 'node:crypto';
import { invalid } from '../errors.ts';

export type Members = Record<string, unknown>;

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function asMembers(value: unknown, param: string): Members {
  if (!isMembers(value)) throw invalid(param, `${param} must be an object.`);
  return value;
}

export function asList(value: unknown, param: string): unknown[] {
  if (!Array.isArray(value)) throw invalid(param, `${param} must be an array.`);
  return value;
}

export function asText(value: unknown, param: string): string {
  if (typeof value !== 'string') throw invalid(param, `${param} must be a string.`);
  return value;
}

/** Null and absent are the same. */
export function textOr<T>(value: unknown, absent: T, param: string): string | T {
  return value === undefined || value === null ? absent : asText(value, param);
}

/** A finite number within a range; the sentence states the range. */
export function asNumber(value: unknown, param: string, minimum: number, maximum: number): number {
  if (typeof value !== 'number' || !(value >= minimum && value <= maximum)) {
    throw invalid(param, `${param} must be a number between ${minimum} and ${maximum}.`);
  }
  return value;
}

export function asInteger(value: unknown, param: string, minimum: number, maximum: number): number {
  if (!Number.isSafeInteger(asNumber(value, param, minimum, maximum))) throw invalid(param, `${param} must be an integer.`);
  return value as number;
}

/** Copies the members that are neither undefined nor null: exactOptionalPropertyTypes wants absent ones absent. */
export function omitNullish<T extends object>(members: { [K in keyof T]: T[K] | null | undefined }): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null)) as T;
}

export function identifier(prefix: string): string {
  return prefix + randomBytes(12).toString('hex');
}

export function unixSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

/** Returns the text of a chat message's content: a string, or the text of its parts together. */
export function messageText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: { text?: unknown }) => (typeof part.text === 'string' ? part.text : '')).join('');
}

const maxTokenId = 2 ** 31 - 1;

/** Reads a list of token ids, which is not empty. */
export function readTokens(list: readonly unknown[], param: string): Int32Array {
  if (list.length === 0) throw invalid(param, `${param} is empty.`);
  const bad = list.findIndex((id) => !Number.isInteger(id) || (id as number) < 0 || (id as number) > maxTokenId);
  if (bad >= 0) throw invalid(`${param}[${bad}]`, `${param}[${bad}] must be a token id, an integer from 0 to ${maxTokenId}.`);
  return Int32Array.from(list as number[]);
}

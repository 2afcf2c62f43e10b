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

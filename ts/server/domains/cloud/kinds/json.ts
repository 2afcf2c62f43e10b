/** JSON of providers, which may hold anything. */
import { BrokenFrame } from './kind.ts';

export type Json = Record<string, unknown>;

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function objectOf(value: unknown): Json {
  return isObject(value) ? value : {};
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOr(value: unknown, absent = ''): string {
  return typeof value === 'string' ? value : absent;
}

/** A count as a provider gives it; undefined for what is none. */
export function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(Math.round(value)) && value >= 0 ? Math.round(value) : undefined;
}

/** Deeper values would cost more than they say. */
const MOST_DEPTH = 64;

/** Throws a BrokenFrame for what is no object, or nested too deeply. */
export function parseFrame(data: string): Json {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch (cause) {
    throw new BrokenFrame(`a frame is no JSON: ${(cause as Error).message.slice(0, 80)}`);
  }
  if (!isObject(value)) throw new BrokenFrame('a frame is no JSON object');
  if (mayBeDeep(data) && depthOf(value) > MOST_DEPTH) throw new BrokenFrame('a frame is nested too deeply');
  return value;
}

/** Most frames have fewer brackets than levels are allowed, which is soon seen. */
function mayBeDeep(data: string): boolean {
  let nOpened = 0;
  for (let at = 0; at < data.length; at++) {
    const code = data.charCodeAt(at);
    if ((code === 0x7b || code === 0x5b) && ++nOpened > MOST_DEPTH) return true;
  }
  return false;
}

function depthOf(value: unknown, depth = 0): number {
  if (typeof value !== 'object' || value === null || depth > MOST_DEPTH) return depth;
  let deepest = depth;
  for (const inner of Object.values(value)) deepest = Math.max(deepest, depthOf(inner, depth + 1));
  return deepest;
}

/** Members that are undefined are left out, as JSON does. */
export function jsonText(value: Json): string {
  return JSON.stringify(value);
}

/** Finds the address that the hub's files are fetched from. */
import { defaultHub } from './pull.ts';

/** The mirror first; HF_ENDPOINT is what other programs of the hub read. Undefined when the one that counts is no http(s) address. */
export function findHubAddress(mirror: string, endpoint: string | undefined): URL | undefined {
  const text = mirror || endpoint;
  if (!text) return defaultHub;
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) ? new URL(text) : undefined;
}

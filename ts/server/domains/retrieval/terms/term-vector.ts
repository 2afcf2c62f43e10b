/**
 * The terms of a passage in few bytes, as they are stored beside it: a hash of each term with how often it occurs, in the hashes' order.
 * Two terms of one hash count as one, which happens to a few of a million.
 */
import { type TermKind, termsOf } from './terms.ts';

export interface TermVector {
  /** Sorted, each once. */
  readonly hashes: Uint32Array;
  readonly counts: Uint8Array;
  readonly nStems: number;
  readonly nGrams: number;
}

/** Changes with whatever makes other terms of the same text: stored terms of another version are made anew. */
export const TERMS_VERSION = 1;

const HEADER_BYTES = 16;
const MAX_COUNT = 15;

export function termVector(text: string): TermVector {
  const counts = new Map<number, number>();
  const n = { stem: 0, gram: 0 };
  for (const { kind, term } of termsOf(text)) {
    n[kind] += 1;
    const hash = hashTerm(kind, term);
    counts.set(hash, (counts.get(hash) ?? 0) + 1);
  }
  const hashes = Uint32Array.from(counts.keys()).sort();
  const capped = Uint8Array.from(hashes, (hash) => Math.min(MAX_COUNT, counts.get(hash) ?? 0));
  return { hashes, counts: capped, nStems: n.stem, nGrams: n.gram };
}

/** FNV-1a over UTF-16 units. The last bit tells the kind, so that a gram never counts as a stem. */
export function hashTerm(kind: TermKind, term: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < term.length; i++) hash = Math.imul(hash ^ term.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  hash ^= hash >>> 13;
  return (kind === 'stem' ? hash & ~1 : hash | 1) >>> 0;
}

export function kindOfHash(hash: number): TermKind {
  return (hash & 1) === 0 ? 'stem' : 'gram';
}

export function packTerms({ hashes, counts, nStems, nGrams }: TermVector): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(HEADER_BYTES + 5 * hashes.length);
  const view = new DataView(bytes.buffer);
  for (const [i, value] of [TERMS_VERSION, nStems, nGrams, hashes.length].entries()) view.setUint32(4 * i, value, true);
  for (const [i, hash] of hashes.entries()) view.setUint32(HEADER_BYTES + 4 * i, hash, true);
  bytes.set(counts, HEADER_BYTES + 4 * hashes.length);
  return bytes;
}

/** Undefined for bytes of another version, and for such as were never terms. */
export function unpackTerms(bytes: Uint8Array): TermVector | undefined {
  if (bytes.length < HEADER_BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [version, nStems = 0, nGrams = 0, n = 0] = [0, 4, 8, 12].map((at) => view.getUint32(at, true));
  if (version !== TERMS_VERSION || bytes.length !== HEADER_BYTES + 5 * n) return undefined;
  const hashes = Uint32Array.from({ length: n }, (_, i) => view.getUint32(HEADER_BYTES + 4 * i, true));
  return { hashes, counts: bytes.slice(HEADER_BYTES + 4 * n), nStems, nGrams };
}

/** Whether stored terms were made by this version of the program. */
export function areTermsCurrent(terms: Uint8Array): boolean {
  return terms.length >= 4 && new DataView(terms.buffer, terms.byteOffset).getUint32(0, true) === TERMS_VERSION;
}

/**
 * Beginnings of prompts, as nodes tell each other which of them they have in their caches: hashes of blocks, each with all before it, keyed by the tenant, so
 * that a digest tells nobody what a prompt says and no tenant finds another's.
 */
import { createHash } from 'node:crypto';
import type { Text } from '../../../native/llama-shapes.ts';
import { bytesOf, type CompletionRequest } from '../../inference/index.ts';

/** The text of a token is about four bytes, and the template adds a little. */
const BLOCK_BYTES = 512;
export const BLOCK_TOKENS = BLOCK_BYTES / 4;
/** A prompt that is longer is told from others by its beginning. */
const MOST_BLOCKS = 256;
/** A digest of so many is 8 KiB on the wire. */
const MOST_HASHES = 1_500;

/** The hashes of a prompt's whole blocks, from its beginning on. Its texts are in hand. */
export function blocksOf(tenant: string, prompt: CompletionRequest['job']['prompt']): Int32Array {
  const [tools, text] =
    prompt.kind === 'chat'
      ? [held(prompt.toolsJson), held(prompt.messagesJson)]
      : ['', held(prompt.kind === 'text' ? prompt.text : String(prompt.tokens))];
  const nBlocks = Math.min(MOST_BLOCKS, Math.floor(text.length / BLOCK_BYTES));
  const blocks = new Int32Array(nBlocks);
  // Templates write the tools before the messages.
  let before = createHash('sha256').update(`${tenant}\0`).update(tools).digest();
  for (let i = 0; i < nBlocks; i++) {
    before = createHash('sha256')
      .update(before)
      .update(text.subarray(i * BLOCK_BYTES, (i + 1) * BLOCK_BYTES))
      .digest();
    blocks[i] = before.readInt32LE(0);
  }
  return blocks;
}

/** The beginnings that a node had last. */
export class PrefixDigest {
  readonly #hashes = new Set<number>();
  readonly #most: number;

  constructor(most = MOST_HASHES) {
    this.#most = most;
  }

  /** They are the newest from now on, the beginning before what follows it. */
  add(blocks: Int32Array): void {
    for (const hash of blocks.toReversed()) {
      this.#hashes.delete(hash);
      this.#hashes.add(hash);
    }
    for (const hash of this.#hashes) {
      if (this.#hashes.size <= this.#most) break;
      this.#hashes.delete(hash);
    }
  }

  replace(hashes: Int32Array): void {
    this.#hashes.clear();
    for (const hash of hashes.subarray(-this.#most)) this.#hashes.add(hash);
  }

  /** Oldest first. */
  get hashes(): Int32Array {
    return Int32Array.from(this.#hashes);
  }

  /** So many blocks from the beginning on are there. */
  nKnown(blocks: Int32Array): number {
    const missing = blocks.findIndex((hash) => !this.#hashes.has(hash));
    return missing < 0 ? blocks.length : missing;
  }
}

function held(text: Text | undefined): Buffer {
  if (text === undefined) return Buffer.alloc(0);
  return typeof text === 'string' ? Buffer.from(text) : bytesOf(text);
}

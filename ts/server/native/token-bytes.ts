/**
 * The bytes of tokens that came lately, one buffer for each. They lie together in blocks of their own: Node cuts a small buffer from a
 * pool of 8 KiB, all of which stays as long as one of its buffers does.
 */
export class TokenBytes {
  /** More than come again and again; beyond it all are forgotten, whatever the vocabulary has. */
  static readonly mostTokens = 4_096;
  static readonly blockBytes = 16 * 1_024;
  #known = new Map<number, Buffer>();
  /** What is left of the newest block. */
  #free = Buffer.alloc(0);

  /** Those of `token`, which are `bytes`; the result is shared and not to be changed. A special token has text in some jobs only. */
  of(token: number, bytes: Buffer): Buffer {
    const known = this.#known.get(token);
    if (known !== undefined && known.length === bytes.length) return known;
    if (known !== undefined) return Buffer.from(bytes);
    if (this.#known.size === TokenBytes.mostTokens) {
      this.#known = new Map();
      this.#free = Buffer.alloc(0);
    }
    const kept = this.#keep(bytes);
    this.#known.set(token, kept);
    return kept;
  }

  #keep(bytes: Buffer): Buffer {
    if (bytes.length > this.#free.length) this.#free = Buffer.allocUnsafeSlow(Math.max(TokenBytes.blockBytes, bytes.length));
    const kept = this.#free.subarray(0, bytes.length);
    bytes.copy(kept);
    this.#free = this.#free.subarray(bytes.length);
    return kept;
  }
}

/** Outgoing bytes of one stream, gathered over a decode step so that the socket is written once. */
export class Frames {
  #bytes: Buffer = none;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(bytes: Buffer): void {
    this.#reserve(bytes.length);
    bytes.copy(this.#bytes, this.#length);
    this.#length += bytes.length;
  }

  pushText(text: string): void {
    this.#reserve(Buffer.byteLength(text));
    this.#length += this.#bytes.write(text, this.#length);
  }

  /** What was gathered; valid until the next push. The gathering starts anew. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#length = 0;
    return taken;
  }

  /** Lets go of the memory that is not in use: the next push may be minutes away. */
  release(): void {
    if (this.#length === 0) this.#bytes = none;
  }

  #reserve(nBytes: number): void {
    if (this.#length + nBytes <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#length + nBytes, leastBytes));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}

const none = Buffer.alloc(0);
/** Room for one chunk. */
const leastBytes = 512;

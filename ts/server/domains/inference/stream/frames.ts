/** Outgoing bytes of one stream, gathered over a decode step so that the socket is written once. */
export class Frames {
  #bytes: Buffer = Buffer.allocUnsafeSlow(initialBytes);
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

  #reserve(nBytes: number): void {
    if (this.#length + nBytes <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#length + nBytes));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}

/** Room for one chunk; 10,000 idle streams must stay small. */
const initialBytes = 512;

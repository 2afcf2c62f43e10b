/** Reads and writes as much of MQTT 3.1.1 as a broker and a client of the bench need. */

interface Frame {
  /** Type in the upper half, flags in the lower. */
  readonly first: number;
  readonly body: Buffer;
}

/** Takes chunks of a connection, and gives its whole packets. */
export class FrameReader {
  #held: Buffer = Buffer.alloc(0);

  take(chunk: Buffer): Frame[] {
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const frames: Frame[] = [];
    for (let at = 0; ; ) {
      let length = 0;
      let head = 1;
      let byte = 0x80;
      for (let shift = 0; byte & 0x80 && at + head < this.#held.length; shift += 7, head += 1) {
        byte = this.#held[at + head] ?? 0;
        length |= (byte & 0x7f) << shift;
      }
      if (byte & 0x80 || this.#held.length < at + head + length) {
        this.#held = this.#held.subarray(at);
        return frames;
      }
      frames.push({ first: this.#held[at] ?? 0, body: this.#held.subarray(at + head, at + head + length) });
      at += head + length;
    }
  }
}

export function frame(first: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const head = [first];
  for (let rest = body.length; ; rest >>= 7) {
    if (rest < 0x80) {
      head.push(rest);
      return Buffer.concat([Buffer.from(head), body]);
    }
    head.push((rest & 0x7f) | 0x80);
  }
}

export function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 0xff]), bytes]);
}

/** @returns the text at the place, and the place behind it. */
export function textAt(body: Buffer, at: number): [string, number] {
  const end = at + 2 + body.readUInt16BE(at);
  return [body.toString('utf8', at + 2, end), end];
}

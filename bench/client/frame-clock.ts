/** Times the content frames of a stream. Frames are found by their bytes and not parsed: the client must not be what is measured. */

/** A content delta; an empty one, which the first chunk carries beside the role, does not count. */
const needle = '"content":"';
const quote = 0x22;
const tailBytes = 16_384;

export class FrameClock {
  readonly #startedAt: number;
  /** Milliseconds between one frame and the next; frames that one read brought have none between them. */
  readonly gapsMs: number[] = [];
  /** When each gap ended, in milliseconds of performance.now(). */
  readonly gapEndsAt: number[] = [];
  /** Undefined until the first frame. */
  firstAt: number | undefined;
  nFrames = 0;
  #lastAt = 0;
  #carry = Buffer.alloc(0);
  /** The last bytes, at the buffer's end. */
  readonly #tail = Buffer.alloc(tailBytes);
  #tailLength = 0;

  constructor(startedAt: number) {
    this.#startedAt = startedAt;
  }

  get ttftMs(): number | undefined {
    return this.firstAt === undefined ? undefined : this.firstAt - this.#startedAt;
  }

  /** The last bytes that were read, as text. */
  get tail(): string {
    return this.#tail.toString('utf8', tailBytes - this.#tailLength);
  }

  read(bytes: Buffer, at: number): void {
    let nFrames = countFrames(bytes);
    if (this.#carry.length > 0) nFrames += countFrames(Buffer.concat([this.#carry, bytes.subarray(0, needle.length)]));
    this.#keep(bytes);
    for (let frame = 0; frame < nFrames; frame++) this.#tick(at);
  }

  #tick(at: number): void {
    this.nFrames++;
    if (this.firstAt === undefined) this.firstAt = at;
    else {
      this.gapsMs.push(at - this.#lastAt);
      this.gapEndsAt.push(at);
    }
    this.#lastAt = at;
  }

  /** Keeps the end of what was read: for a frame that two reads share, and for the final chunk. */
  #keep(bytes: Buffer): void {
    const last = bytes.subarray(-tailBytes);
    this.#tail.copyWithin(0, last.length);
    last.copy(this.#tail, tailBytes - last.length);
    this.#tailLength = Math.min(tailBytes, this.#tailLength + last.length);
    this.#carry = Buffer.from(this.#tail.subarray(tailBytes - needle.length));
  }
}

function countFrames(bytes: Buffer): number {
  let found = 0;
  for (let at = bytes.indexOf(needle); at !== -1; at = bytes.indexOf(needle, at + needle.length)) {
    const next = bytes[at + needle.length];
    if (next !== undefined && next !== quote) found++;
  }
  return found;
}

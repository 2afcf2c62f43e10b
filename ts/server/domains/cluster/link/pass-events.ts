/** Passes an event stream of another node on, event by event: one that is cut ends between two events, with an error. */
import type { Readable } from 'node:stream';
import type { EventStream } from '../../../platform/http/reply/reply.ts';

/** An event that is longer is none of ours. */
const MOST_EVENT_BYTES = 64 * 1024 * 1024;
const LONGEST_END = 4;

/** Resolves when the stream is over, however it ends. */
export async function passEvents(source: Readable, stream: EventStream, lastFrame: () => string): Promise<void> {
  let isClosed = false;
  let goOn = (): void => undefined;
  stream.onDrain(() => goOn());
  stream.onClose(() => {
    isClosed = true;
    source.destroy();
    goOn();
  });
  const events = new EventReader();
  try {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      const whole = events.read(chunk);
      if (whole === undefined || isClosed || stream.write(whole)) continue;
      await new Promise<void>((resolve) => {
        goOn = resolve;
        if (isClosed) resolve();
      });
    }
    if (events.rest.length > 0) stream.write(events.rest);
  } catch {
    // Why it was cut is in the log of the link; the client is told that it was.
    if (!isClosed) stream.write(lastFrame());
  }
  stream.end();
}

/** Holds an event back until it is whole. */
class EventReader {
  #held: Buffer[] = [];
  #nHeld = 0;
  /** The last bytes that are held, in which the end of an event may begin. */
  #tail: Buffer = Buffer.alloc(0);

  get rest(): Buffer {
    return Buffer.concat(this.#held);
  }

  /** All events that are whole now; undefined: none is. */
  read(chunk: Buffer): Buffer | undefined {
    const joint = Buffer.concat([this.#tail, chunk]);
    const end = Math.max(endBehind(joint, '\n\n'), endBehind(joint, '\r\n\r\n'));
    this.#tail = joint.subarray(Math.max(end, joint.length - LONGEST_END + 1, 0));
    const at = end === 0 ? 0 : end - (joint.length - chunk.length);
    const whole = end === 0 ? undefined : Buffer.concat([...this.#held, chunk.subarray(0, at)]);
    if (whole !== undefined) this.#held = [];
    if (whole !== undefined) this.#nHeld = 0;
    if (at < chunk.length) this.#held.push(chunk.subarray(at));
    this.#nHeld += chunk.length - at;
    if (this.#nHeld > MOST_EVENT_BYTES) throw new Error('an event of a node is too long');
    return whole;
  }
}

function endBehind(bytes: Buffer, end: string): number {
  const at = bytes.lastIndexOf(end);
  return at < 0 ? 0 : at + end.length;
}

/**
 * AWS's binary event stream: messages of a length, headers and a payload, with a CRC-32 of the first twelve bytes and one of everything.
 * Source: https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html, which Bedrock's streams share.
 */
import { crc32 } from 'node:zlib';
import { BrokenFrame, type ProviderFrame } from '../kinds/kind.ts';

const PRELUDE_BYTES = 12;
const CRC_BYTES = 4;
const MOST_MESSAGE_BYTES = 16 * 1024 * 1024;
/** Bytes of a header's value by its type; undefined: a length of two bytes stands before it. */
const VALUE_BYTES: readonly (number | undefined)[] = [0, 0, 1, 2, 4, 8, undefined, undefined, 8, 16];
const TEXT = 7;

export class AwsFrames {
  /** It doubles, so that a message that comes byte by byte is not copied with each of them. */
  #held = Buffer.alloc(4096);
  #nBytes = 0;
  /** As many bytes make the next message, or say how long it is. */
  #nWanted = PRELUDE_BYTES;

  push(bytes: Uint8Array): ProviderFrame[] {
    this.#keep(bytes);
    const frames: ProviderFrame[] = [];
    let at = 0;
    while (this.#nBytes - at >= this.#nWanted) {
      const rest = this.#held.subarray(at, this.#nBytes);
      const length = lengthOf(rest);
      this.#nWanted = length;
      if (rest.length < length) break;
      frames.push(readMessage(rest.subarray(0, length)));
      at += length;
      this.#nWanted = PRELUDE_BYTES;
    }
    this.#held.copyWithin(0, at, this.#nBytes);
    this.#nBytes -= at;
    return frames;
  }

  #keep(bytes: Uint8Array): void {
    const nBytes = this.#nBytes + bytes.length;
    if (nBytes > this.#held.length) {
      const larger = Buffer.alloc(Math.max(nBytes, 2 * this.#held.length));
      this.#held.copy(larger, 0, 0, this.#nBytes);
      this.#held = larger;
    }
    this.#held.set(bytes, this.#nBytes);
    this.#nBytes = nBytes;
  }
}

/** Reads the length of the message that the bytes begin with. */
function lengthOf(bytes: Buffer): number {
  const length = bytes.readUInt32BE(0);
  if (crc32(bytes.subarray(0, 8)) !== bytes.readUInt32BE(8)) throw new BrokenFrame('a message has a wrong checksum');
  if (length < PRELUDE_BYTES + CRC_BYTES || length > MOST_MESSAGE_BYTES) throw new BrokenFrame(`a message has ${length} bytes`);
  return length;
}

/** Events have their type, exceptions the same behind `exception:`. */
function readMessage(message: Buffer): ProviderFrame {
  const end = message.length - CRC_BYTES;
  if (crc32(message.subarray(0, end)) !== message.readUInt32BE(end)) throw new BrokenFrame('a message has a wrong checksum');
  const payloadAt = PRELUDE_BYTES + message.readUInt32BE(4);
  if (payloadAt > end) throw new BrokenFrame('the headers of a message are longer than it is');
  const headers = readHeaders(message.subarray(PRELUDE_BYTES, payloadAt));
  const kind = headers.get(':message-type') ?? 'event';
  const name = headers.get(':event-type') ?? headers.get(':exception-type') ?? headers.get(':error-code') ?? '';
  return { event: kind === 'event' ? name : `exception:${name}`, data: message.toString('utf8', payloadAt, end) };
}

function readHeaders(bytes: Buffer): Map<string, string> {
  const headers = new Map<string, string>();
  try {
    for (let at = 0; at < bytes.length; ) {
      const nameLength = bytes.readUInt8(at);
      const name = bytes.toString('utf8', at + 1, at + 1 + nameLength);
      at += 1 + nameLength;
      const type = bytes.readUInt8(at);
      at += 1;
      if (type >= VALUE_BYTES.length) throw new RangeError('an unknown type');
      let valueLength = VALUE_BYTES[type];
      if (valueLength === undefined) {
        valueLength = bytes.readUInt16BE(at);
        at += 2;
      }
      if (at + valueLength > bytes.length) throw new RangeError('a header that is cut off');
      if (type === TEXT) headers.set(name, bytes.toString('utf8', at, at + valueLength));
      at += valueLength;
    }
  } catch (cause) {
    throw new BrokenFrame(`the headers of a message cannot be read: ${(cause as Error).message}`);
  }
  return headers;
}

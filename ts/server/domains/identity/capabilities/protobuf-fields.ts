/** The fields of one Protocol Buffers message, as far as Biscuit's outer messages use them: numbers of up to 32 bits, and bytes. */

export interface ProtobufField {
  number: number;
  /** Of a number. */
  value: number | undefined;
  /** Of text, bytes and messages within. */
  bytes: Buffer | undefined;
}

const VARINT = 0;
const BYTES = 2;

/** Undefined: the bytes are no such message. */
export function protobufFields(bytes: Buffer): ProtobufField[] | undefined {
  const fields: ProtobufField[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = readVarint(bytes, at);
    const read = tag && readVarint(bytes, tag.end);
    if (tag === undefined || read === undefined) return undefined;
    const number = Math.floor(tag.value / 8);
    const wire = tag.value % 8;
    if (wire === VARINT) {
      fields.push({ number, value: read.value, bytes: undefined });
      at = read.end;
    } else if (wire === BYTES && read.end + read.value <= bytes.length) {
      at = read.end + read.value;
      fields.push({ number, value: undefined, bytes: bytes.subarray(read.end, at) });
    } else return undefined;
  }
  return fields;
}

function readVarint(bytes: Buffer, at: number): { value: number; end: number } | undefined {
  let value = 0;
  for (let i = 0; i < 5; i += 1) {
    const byte = bytes[at + i];
    if (byte === undefined) return undefined;
    value += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) return value < 2 ** 32 ? { value, end: at + i + 1 } : undefined;
  }
  return undefined;
}

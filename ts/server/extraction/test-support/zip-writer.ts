/** Writes ZIP files for tests, sound ones and others. */
import { crc32, deflateRawSync } from 'node:zlib';

export interface WrittenPart {
  name: string;
  data: Uint8Array | string;
  stored?: boolean;
  /** Says so in the headers; the data is not encrypted. */
  encrypted?: boolean;
  /** In place of the true checksum. */
  crc?: number;
}

interface Placed {
  local: Buffer;
  central: Buffer;
}

export function writeZip(parts: readonly WrittenPart[]): Buffer {
  const placed: Placed[] = [];
  let offset = 0;
  for (const part of parts) {
    const one = placePart(part, offset);
    placed.push(one);
    offset += one.local.length;
  }
  const central = Buffer.concat(placed.map((each) => each.central));
  return Buffer.concat([...placed.map((each) => each.local), central, endRecord(placed.length, central.length, offset)]);
}

function placePart({ name, data, stored = false, encrypted = false, crc }: WrittenPart, offset: number): Placed {
  const bytes = Buffer.from(data);
  const packed = stored ? bytes : deflateRawSync(bytes);
  const nameBytes = Buffer.from(name);
  const common = Buffer.alloc(26);
  common.writeUInt16LE(20, 0);
  common.writeUInt16LE(encrypted ? 1 : 0, 2);
  common.writeUInt16LE(stored ? 0 : 8, 4);
  common.writeUInt32LE(crc ?? crc32(bytes), 10);
  common.writeUInt32LE(packed.length, 14);
  common.writeUInt32LE(bytes.length, 18);
  common.writeUInt16LE(nameBytes.length, 22);
  return {
    local: Buffer.concat([mark(0x04034b50), common, nameBytes, packed]),
    central: Buffer.concat([mark(0x02014b50), Buffer.from([20, 0]), common, Buffer.alloc(10), mark(offset), nameBytes]),
  };
}

function endRecord(nParts: number, sizeBytes: number, offset: number): Buffer {
  const record = Buffer.alloc(18);
  record.writeUInt16LE(nParts, 4);
  record.writeUInt16LE(nParts, 6);
  record.writeUInt32LE(sizeBytes, 8);
  record.writeUInt32LE(offset, 12);
  return Buffer.concat([mark(0x06054b50), record]);
}

function mark(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

/** Of text between tags and of attributes. */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

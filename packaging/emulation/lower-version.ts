/**
 * The bytes of a library that asks for a newer version of the C library, asking for an older one of the same functions: for an emulator whose
 * C library is this system's. Nothing of it ships. (System V gABI, Linux Standard Base: symbol versioning.)
 */
const SHT_GNU_VERNEED = 0x6ffffffe;

/** Little-endian ELF64. Bytes that ask for no `newer` come back as they are. */
export function lowerVersion(library: Buffer, newer: string, older: string): Buffer {
  const bytes = Buffer.from(library);
  const [sections, size, count] = [Number(bytes.readBigUInt64LE(0x28)), bytes.readUInt16LE(0x3a), bytes.readUInt16LE(0x3c)];
  const section = (i: number) => {
    const at = sections + i * size;
    return {
      type: bytes.readUInt32LE(at + 4),
      offset: Number(bytes.readBigUInt64LE(at + 0x18)),
      link: bytes.readUInt32LE(at + 0x28),
    };
  };
  for (const { type, offset, link } of Array.from({ length: count }, (_, i) => section(i))) {
    if (type !== SHT_GNU_VERNEED) continue;
    const strings = section(link).offset;
    const nameAt = (index: number) => bytes.toString('latin1', strings + index, bytes.indexOf(0, strings + index));
    for (const entries of versionsOf(bytes, offset)) {
      const wanted = entries.find((at) => nameAt(bytes.readUInt32LE(at + 8)) === older);
      for (const at of entries.filter((entry) => nameAt(bytes.readUInt32LE(entry + 8)) === newer)) {
        if (wanted === undefined) throw new Error(`the library asks for ${newer}, and not for ${older} beside it`);
        // Hash and name; the number by which its symbols name the version stays.
        bytes.copy(bytes, at, wanted, wanted + 4);
        bytes.copy(bytes, at + 8, wanted + 8, wanted + 12);
      }
    }
  }
  return bytes;
}

/** Where the versions stand that are asked of each library. */
function versionsOf(bytes: Buffer, offset: number): number[][] {
  const found: number[][] = [];
  for (let need = offset, next = -1; next !== 0; need += next) {
    const entries: number[] = [];
    let at = need + bytes.readUInt32LE(need + 8);
    for (let i = bytes.readUInt16LE(need + 2); i > 0; i -= 1) {
      entries.push(at);
      at += bytes.readUInt32LE(at + 12);
    }
    found.push(entries);
    next = bytes.readUInt32LE(need + 12);
  }
  return found;
}

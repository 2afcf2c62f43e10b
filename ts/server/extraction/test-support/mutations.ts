/** Damage to files, as disks, networks and attackers do it. The same seed makes the same file. */
import { inflateRawSync } from 'node:zlib';
import { type WrittenPart, writeZip } from './zip-writer.ts';

/** Numbers from 0 to below 1 (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Random = () => number;

const below = (random: Random, limit: number) => Math.floor(random() * limit);

const mutations: readonly ((bytes: Buffer, random: Random) => Buffer)[] = [
  // Cut off.
  (bytes, random) => bytes.subarray(0, below(random, bytes.length)),
  // Single bits and bytes.
  (bytes, random) => changed(bytes, random, (byte) => byte ^ (1 << below(random, 8))),
  (bytes, random) => changed(bytes, random, () => below(random, 256)),
  // A part taken out, doubled, or overwritten by another.
  (bytes, random) => {
    const [from, to] = range(bytes, random);
    return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
  },
  (bytes, random) => {
    const [from, to] = range(bytes, random);
    return Buffer.concat([bytes.subarray(0, to), bytes.subarray(from)]);
  },
  (bytes, random) => {
    const copy = Buffer.from(bytes);
    const [from, to] = range(bytes, random);
    bytes.copy(copy, below(random, bytes.length), from, to);
    return copy;
  },
  // Numbers that are far too large.
  (bytes, random) =>
    Buffer.from(
      bytes.toString('latin1').replace(/\d+/g, (digits) => (random() < 0.05 ? '9'.repeat(below(random, 12) + 1) : digits)),
      'latin1',
    ),
];

/** A damaged copy. Of an archive, every second time, a part inside is damaged and packed soundly again. */
export function mutate(bytes: Buffer, seed: number): Buffer {
  const random = randomNumbers(seed);
  const isArchive = bytes.subarray(0, 2).toString() === 'PK';
  return isArchive && random() < 0.5 ? mutateInside(bytes, random) : mutateBytes(bytes, random);
}

function mutateBytes(bytes: Buffer, random: Random): Buffer {
  let damaged = bytes;
  for (let i = below(random, 3); i >= 0; i--) damaged = mutations[below(random, mutations.length)]?.(damaged, random) ?? damaged;
  return damaged;
}

function mutateInside(bytes: Buffer, random: Random): Buffer {
  const parts = readParts(bytes);
  const victim = parts[below(random, parts.length)];
  if (victim !== undefined) victim.data = mutateBytes(Buffer.from(victim.data), random);
  return writeZip(parts);
}

/** Of archives that the writers of the tests made. */
function readParts(bytes: Buffer): WrittenPart[] {
  const parts: WrittenPart[] = [];
  for (let at = 0; bytes.readUInt32LE(at) === 0x04034b50; ) {
    const nameEnd = at + 30 + bytes.readUInt16LE(at + 26);
    const end = nameEnd + bytes.readUInt32LE(at + 18);
    const stored = bytes.readUInt16LE(at + 8) === 0;
    const packed = bytes.subarray(nameEnd, end);
    parts.push({ name: bytes.toString('utf8', at + 30, nameEnd), data: stored ? packed : inflateRawSync(packed), stored });
    at = end;
  }
  return parts;
}

function changed(bytes: Buffer, random: Random, change: (byte: number) => number): Buffer {
  const copy = Buffer.from(bytes);
  for (let i = below(random, 16); i >= 0 && copy.length > 0; i--) {
    const at = below(random, copy.length);
    copy[at] = change(copy[at] ?? 0);
  }
  return copy;
}

function range(bytes: Buffer, random: Random): [number, number] {
  const from = below(random, bytes.length);
  return [from, Math.min(bytes.length, from + 1 + below(random, 200))];
}

/** Numbers in Modbus registers, in both orders of bytes and of words. What is read and what is written goes through the same two functions. */
import type { ReadSpec, RegisterType } from '../profile.ts';

type RegisterSpec = Pick<ReadSpec<'modbus_tcp'>, 'type' | 'byte_order' | 'word_order' | 'scale' | 'offset'>;

const WORDS: Readonly<Record<RegisterType, number>> = {
  int16: 1,
  uint16: 1,
  int32: 2,
  uint32: 2,
  float32: 2,
  float64: 4,
  bool: 1,
};

const RANGES: Readonly<Partial<Record<RegisterType, readonly [number, number]>>> = {
  int16: [-0x8000, 0x7fff],
  uint16: [0, 0xffff],
  int32: [-0x8000_0000, 0x7fff_ffff],
  uint32: [0, 0xffff_ffff],
};
const MAX_FLOAT32 = 3.402_823_466_385_288_6e38;

export function wordsOf(type: RegisterType): number {
  return WORDS[type];
}

/** The number in the registers, before scale and offset; NaN for a float that is none. */
export function rawFrom({ type, byte_order: bytes, word_order: words }: RegisterSpec, registers: Buffer): number {
  const ordered = reordered(registers, bytes, words);
  switch (type) {
    case 'int16':
      return ordered.readInt16BE();
    case 'int32':
      return ordered.readInt32BE();
    case 'uint32':
      return ordered.readUInt32BE();
    case 'float32':
      return ordered.readFloatBE();
    case 'float64':
      return ordered.readDoubleBE();
    default:
      return ordered.readUInt16BE();
  }
}

/** The raw number with scale and offset. A scale such as 0.1 leaves no digits that nobody measured. */
export function scaled({ type, scale = 1, offset = 0 }: RegisterSpec, raw: number): number {
  if (scale === 1) return raw + offset;
  const value = raw * scale + offset;
  return type === 'float32' || type === 'float64' ? value : Number(value.toPrecision(12));
}

/** The registers of a value. It fits, see `fitsRegisters`. */
export function registersOf(spec: RegisterSpec, value: number): Buffer {
  const { type, byte_order: bytes, word_order: words } = spec;
  const raw = unscaled(spec, value);
  const buffer = Buffer.alloc(2 * WORDS[type]);
  if (type === 'float32') buffer.writeFloatBE(raw);
  else if (type === 'float64') buffer.writeDoubleBE(raw);
  else if (type === 'int16') buffer.writeInt16BE(raw);
  else if (type === 'int32') buffer.writeInt32BE(raw);
  else if (type === 'uint32') buffer.writeUInt32BE(raw);
  else buffer.writeUInt16BE(raw);
  return reordered(buffer, bytes, words);
}

export function fitsRegisters(spec: RegisterSpec, value: number): boolean {
  const raw = unscaled(spec, value);
  const [least, most] =
    RANGES[spec.type] ?? (spec.type === 'float32' ? [-MAX_FLOAT32, MAX_FLOAT32] : [-Number.MAX_VALUE, Number.MAX_VALUE]);
  return raw >= least && raw <= most;
}

function unscaled({ type, scale = 1, offset = 0 }: RegisterSpec, value: number): number {
  const raw = (value - offset) / scale;
  return type === 'float32' || type === 'float64' ? raw : Math.round(raw);
}

type Order = 'big' | 'little' | undefined;

/** Its own inverse. */
function reordered(registers: Buffer, bytes: Order, words: Order): Buffer {
  const ordered = Buffer.from(registers);
  if (bytes === 'little') ordered.swap16();
  if (words !== 'little') return ordered;
  const nWords = ordered.length / 2;
  return Buffer.concat(Array.from({ length: nWords }, (_, i) => ordered.subarray(2 * (nWords - 1 - i), 2 * (nWords - i))));
}

/** 32-bit floats as JSON numbers of nine significant digits: as many as every such float needs to be read back as itself. */

/** Most bytes of one number: a sign and 21 digits, beyond which JavaScript writes exponents. */
export const maxFloatBytes = 22;

const [zero, point, minus] = [0x30, 0x2e, 0x2d];
/** A value below bounds[n] has n + 1 zeros behind the point; multiplied by scales[n] it is its nine digits. */
const bounds = Float64Array.from([1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6]);
const scales = Float64Array.from([1e9, 1e10, 1e11, 1e12, 1e13, 1e14]);
/** The digits of 000 to 999, one group after the other. */
const groups = Uint8Array.from({ length: 3000 }, (_, at) => zero + (Math.trunc(Math.trunc(at / 3) / 10 ** (2 - (at % 3))) % 10));

/** Writes one number and returns the offset behind it. What JSON has no number for becomes null, as JSON.stringify has it. */
export function writeFloat(value: number, to: Uint8Array, at: number): number {
  const magnitude = Math.abs(value);
  // Components of a unit vector are below 1; few are smaller than a millionth.
  if (!(magnitude >= 1e-6 && magnitude < 1)) return writeRare(value, to, at);
  let end = at;
  if (value < 0) to[end++] = minus;
  to[end++] = zero;
  to[end++] = point;
  let nZeros = 0;
  while (magnitude < (bounds[nZeros] as number)) {
    to[end++] = zero;
    nZeros++;
  }
  end = writeNine(Math.round(magnitude * (scales[nZeros] as number)), to, end);
  while (to[end - 1] === zero) end--;
  return end;
}

function writeNine(digits: number, to: Uint8Array, at: number): number {
  const millions = Math.trunc(digits / 1e6);
  const thousands = Math.trunc((digits - millions * 1e6) / 1e3);
  writeGroup(millions, to, at);
  writeGroup(thousands, to, at + 3);
  writeGroup(digits - millions * 1e6 - thousands * 1e3, to, at + 6);
  return at + 9;
}

function writeGroup(group: number, to: Uint8Array, at: number): void {
  to[at] = groups[group * 3] as number;
  to[at + 1] = groups[group * 3 + 1] as number;
  to[at + 2] = groups[group * 3 + 2] as number;
}

function writeRare(value: number, to: Uint8Array, at: number): number {
  const text = JSON.stringify(Number.isFinite(value) ? Number(value.toPrecision(9)) : null);
  for (let i = 0; i < text.length; i++) to[at + i] = text.charCodeAt(i);
  return at + text.length;
}

/** What native/vector/files/checksum.h computes, so that a test can sign what it changed. */

const MASK = (1n << 64n) - 1n;

export function checksum(bytes: Uint8Array): bigint {
  const lanes = [1n, 2n, 3n, 4n];
  const padded = new Uint8Array(Math.floor(bytes.length / 32) * 32 + 32);
  padded.set(bytes);
  const words = new BigUint64Array(padded.buffer);
  for (const [i, word] of words.entries()) {
    const product = (((lanes[i % 4] ?? 0n) ^ word) * 0x9e3779b97f4a7c15n) & MASK;
    lanes[i % 4] = ((product << 27n) | (product >> 37n)) & MASK;
  }
  return mixed(lanes.reduce((sum, lane) => (mixed(sum ^ lane) + lane) & MASK, BigInt(bytes.length)));
}

function mixed(word: bigint): bigint {
  const product = ((word ^ (word >> 32n)) * 0xd6e8feb86659fd93n) & MASK;
  return product ^ (product >> 29n);
}

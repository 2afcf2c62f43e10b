/** Sounds for tests. */

/** A tone of `seconds`. */
export function sine(hertz: number, rate: number, seconds: number): Float32Array {
  return Float32Array.from({ length: Math.floor(rate * seconds) }, (_, i) => 0.5 * Math.sin((2 * Math.PI * hertz * i) / rate));
}

/** One channel of 16 bits. */
export function wav(samples: Float32Array, rate: number): Buffer {
  const data = Buffer.from(Int16Array.from(samples, (sample) => Math.round(sample * 32_767)).buffer);
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + data.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(2 * rate, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(data.length, 40);
  return Buffer.concat([head, data]);
}

/** Frames of MPEG-1 layer III at 128 kbit/s and 44,100 Hz whose spectra are empty: 1,152 samples each. */
export function silentMp3(nFrames: number): Buffer {
  const frame = Buffer.alloc(417);
  frame.writeUInt32BE(0xfffb9064);
  return Buffer.concat(Array.from({ length: nFrames }, () => frame));
}

/** WAV files of 16-bit samples: what a call plays, and what it recorded. */

export interface Sound {
  readonly rate: number;
  readonly samples: Int16Array;
}

const HEAD_BYTES = 44;
const PCM = 1;

/** Undefined: it is no WAV of 16-bit samples. Several channels become their mean. */
export function readWav(file: Buffer): Sound | undefined {
  if (file.toString('latin1', 0, 4) !== 'RIFF' || file.toString('latin1', 8, 12) !== 'WAVE') return undefined;
  let format: { nChannels: number; rate: number } | undefined;
  for (let at = 12; at + 8 <= file.length; ) {
    const name = file.toString('latin1', at, at + 4);
    const size = file.readUInt32LE(at + 4);
    const body = file.subarray(at + 8, Math.min(file.length, at + 8 + size));
    if (name === 'fmt ' && body.length >= 16) {
      if (body.readUInt16LE(0) !== PCM || body.readUInt16LE(14) !== 16) return undefined;
      format = { nChannels: body.readUInt16LE(2), rate: body.readUInt32LE(4) };
    }
    if (name === 'data') return soundOf(body, format);
    at += 8 + size + (size % 2);
  }
  return undefined;
}

function soundOf(body: Buffer, format: { nChannels: number; rate: number } | undefined): Sound | undefined {
  if (format === undefined || format.nChannels < 1 || format.nChannels > 8 || format.rate < 4_000 || format.rate > 192_000)
    return undefined;
  const { nChannels, rate } = format;
  const samples = new Int16Array(Math.floor(body.length / (2 * nChannels)));
  for (let i = 0; i < samples.length; i += 1) {
    let sum = 0;
    for (let channel = 0; channel < nChannels; channel += 1) sum += body.readInt16LE(2 * (i * nChannels + channel));
    samples[i] = Math.round(sum / nChannels);
  }
  return { rate, samples };
}

export function writeWav({ rate, samples }: Sound): Buffer {
  const file = Buffer.alloc(HEAD_BYTES + samples.length * 2);
  file.write('RIFF', 0);
  file.writeUInt32LE(file.length - 8, 4);
  file.write('WAVEfmt ', 8);
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(PCM, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(rate, 24);
  file.writeUInt32LE(rate * 2, 28);
  file.writeUInt16LE(2, 32);
  file.writeUInt16LE(16, 34);
  file.write('data', 36);
  file.writeUInt32LE(samples.length * 2, 40);
  for (const [i, sample] of samples.entries()) file.writeInt16LE(sample, HEAD_BYTES + 2 * i);
  return file;
}

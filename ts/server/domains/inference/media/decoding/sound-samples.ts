/** An encoded sound -> samples of one channel at the rate that a projector hears. WAVE is read here, MP3 by mpg123 in WebAssembly. */
import type { SoundFormat } from '../encoded-media.ts';
import { resample } from './resample.ts';
import { readWav, type Sound } from './wav.ts';

/** Bytes of MP3 that are decoded at once, so that the limit of time is met early. */
const pieceBytes = 64 * 1024;

/** Throws an error whose message is a part of a sentence. */
export async function decodeSamples(
  bytes: Uint8Array,
  format: SoundFormat,
  rate: number,
  maxSeconds: number,
): Promise<Float32Array> {
  const sound = format === 'wav' ? readWav(bytes, maxSeconds) : await readMp3(bytes, maxSeconds);
  if (sound.samples.length === 0) throw new Error('it has no samples');
  return resample(sound.samples, sound.rate, rate);
}

async function readMp3(bytes: Uint8Array, maxSeconds: number): Promise<Sound> {
  const { MPEGDecoder } = await import('mpg123-decoder');
  const decoder = new MPEGDecoder({ enableGapless: false });
  await decoder.ready;
  const pieces: Float32Array[] = [];
  let rate = 0;
  let nSamples = 0;
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const { channelData, samplesDecoded, sampleRate } = decoder.decode(bytes.subarray(at, at + pieceBytes));
    if (samplesDecoded === 0) continue;
    if (rate !== 0 && sampleRate !== rate) throw new Error('its sample rate changes');
    rate = sampleRate;
    nSamples += samplesDecoded;
    if (nSamples > maxSeconds * rate) throw new Error(`it lasts longer than ${maxSeconds} seconds`);
    pieces.push(mixed(channelData, samplesDecoded));
  }
  decoder.free();
  if (nSamples === 0) throw new Error('it is no MP3 file');
  return { samples: joined(pieces, nSamples), rate };
}

function mixed(channels: readonly Float32Array[], nSamples: number): Float32Array {
  const sum = new Float32Array(nSamples);
  for (const channel of channels) for (let i = 0; i < nSamples; i++) sum[i] = (sum[i] as number) + (channel[i] ?? 0);
  return sum.map((sample) => sample / channels.length);
}

function joined(pieces: readonly Float32Array[], nSamples: number): Float32Array {
  const all = new Float32Array(nSamples);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

/** RIFF WAVE -> samples. Source: Microsoft's "Multiple channel audio data and WAVE files"; format tags of RFC 2361. */
import { maxSoundChannels, soundRates } from '../media-limits.ts';

export interface Sound {
  /** The samples of one channel, -1 to 1. */
  samples: Float32Array;
  rate: number;
}

const pcm = 1;
const float = 3;
const extensible = 0xfffe;

interface Format {
  tag: number;
  nChannels: number;
  rate: number;
  nBits: number;
}

/** Throws an error whose message is a part of a sentence, for what is no WAVE file or of no known encoding. */
export function readWav(bytes: Uint8Array, maxSeconds: number): Sound {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (tagAt(view, 0) !== 'RIFF' || tagAt(view, 8) !== 'WAVE') throw new Error('it is no WAVE file');
  let format: Format | undefined;
  for (let at = 12; at + 8 <= view.byteLength; ) {
    const name = tagAt(view, at);
    const begin = at + 8;
    // Writers that stream leave the length of the last chunk open.
    const sizeBytes = Math.min(view.getUint32(at + 4, true), view.byteLength - begin);
    if (name === 'fmt ') format = readFormat(view, begin, sizeBytes);
    if (name === 'data') return readSamples(new DataView(view.buffer, view.byteOffset + begin, sizeBytes), format, maxSeconds);
    at = begin + sizeBytes + (sizeBytes & 1);
  }
  throw new Error('it has no samples');
}

function readFormat(view: DataView, at: number, sizeBytes: number): Format {
  if (sizeBytes < 16) throw new Error('its format is cut off');
  const tag = view.getUint16(at, true);
  const format = {
    tag: tag === extensible && sizeBytes >= 26 ? view.getUint16(at + 24, true) : tag,
    nChannels: view.getUint16(at + 2, true),
    rate: view.getUint32(at + 4, true),
    nBits: view.getUint16(at + 14, true),
  };
  if (format.nChannels < 1 || format.nChannels > maxSoundChannels) throw new Error(`it has ${format.nChannels} channels`);
  if (format.rate < soundRates.least || format.rate > soundRates.most) throw new Error(`it has ${format.rate} samples a second`);
  return format;
}

function readSamples(data: DataView, format: Format | undefined, maxSeconds: number): Sound {
  if (!format) throw new Error('its samples come before their format');
  const { nChannels, rate, nBits } = format;
  const read = readerOf(format);
  const frameBytes = (nBits / 8) * nChannels;
  const nFrames = Math.floor(data.byteLength / frameBytes);
  if (nFrames > maxSeconds * rate) throw new Error(`it lasts longer than ${maxSeconds} seconds`);
  const samples = new Float32Array(nFrames);
  for (let frame = 0; frame < nFrames; frame++) {
    let sum = 0;
    for (let channel = 0; channel < nChannels; channel++) sum += read(data, frame * frameBytes + (channel * nBits) / 8);
    samples[frame] = sum / nChannels;
  }
  return { samples, rate };
}

function readerOf({ tag, nBits }: Format): (data: DataView, at: number) => number {
  if (tag === pcm && nBits === 8) return (data, at) => (data.getUint8(at) - 128) / 128;
  if (tag === pcm && nBits === 16) return (data, at) => data.getInt16(at, true) / 32_768;
  if (tag === pcm && nBits === 24) return (data, at) => (data.getUint16(at, true) | (data.getInt8(at + 2) << 16)) / 8_388_608;
  if (tag === pcm && nBits === 32) return (data, at) => data.getInt32(at, true) / 2_147_483_648;
  if (tag === float && nBits === 32) return (data, at) => finite(data.getFloat32(at, true));
  if (tag === float && nBits === 64) return (data, at) => finite(data.getFloat64(at, true));
  throw new Error(`its encoding (format ${tag}, ${nBits} bits) is none of PCM with 8 to 32 bits and floats`);
}

/** Far beyond full scale, sums would lose what is heard; what is no number is silence. */
function finite(sample: number): number {
  return Number.isFinite(sample) ? Math.max(-1, Math.min(1, sample)) : 0;
}

function tagAt(view: DataView, at: number): string {
  if (at + 4 > view.byteLength) return '';
  return String.fromCharCode(view.getUint8(at), view.getUint8(at + 1), view.getUint8(at + 2), view.getUint8(at + 3));
}

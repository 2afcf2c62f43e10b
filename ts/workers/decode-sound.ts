/**
 * Decodes one WAV or MP3 file in a process that the server confines: `decode-sound.ts FILE FORMAT SECONDS RATE` writes samples of one channel,
 * so many a second, as little-endian floats to the standard output. What goes wrong is a line on the standard error.
 */
import { readFileSync, writeSync } from 'node:fs';
import { decodeSamples } from '../server/domains/inference/media/decoding/sound-samples.ts';

const [path = '', format = 'wav', maxSeconds = '0', rate = '16000'] = process.argv.slice(2);

/** A pipe that is full is waited for. */
function write(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at, Math.min(65_536, bytes.length - at));
}

try {
  const samples = await decodeSamples(readFileSync(path), format === 'mp3' ? 'mp3' : 'wav', Number(rate), Number(maxSeconds));
  write(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength));
} catch (error) {
  const text = error instanceof Error ? error.message : String(error);
  process.stderr.write(`decode-sound: ${(text.split('\n')[0] ?? '').slice(0, 200)}\n`);
  process.exitCode = 1;
}

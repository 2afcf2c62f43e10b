/**
 * Sound files whose bytes were changed become samples or are refused with a code of the module, and nothing else. SVC_CRAFTED_SOUNDS sets how many;
 * each is a process of its own.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { silentMp3, sine, wav } from '../ts/server/domains/inference/media/test-support/sounds.ts';
import { mediaErrors } from '../ts/server/domains/media/errors.ts';
import { findFfmpeg } from '../ts/server/domains/media/programs/ffmpeg.ts';
import { readSound, SOUND_RATE } from '../ts/server/domains/media/sound/sound-reader.ts';
import { iterations } from './test-support/iterations.ts';
import { random } from './test-support/seed.ts';

t.setTimeout(7_200_000);

const nFiles = iterations(16, 150, 'SVC_CRAFTED_SOUNDS');
const MAX_SECONDS = 5;
const REFUSALS = ['invalid_media', 'no_audio_track', 'media_too_long'];
/** Numbers that readers multiply, allocate or seek by. */
const EXTREMES = [0, 1, 0x7f, 0x80, 0xff, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff];
const HEAD_BYTES = 200;

const folder = t.testdir();
const sounds = [wav(sine(440, 16_000, 1), 16_000), wav(sine(440, 44_100, 0.5), 44_100), silentMp3(40), ...encoded()];

/** The kinds that ffmpeg reads, where it is installed. */
function encoded(): Buffer[] {
  if (findFfmpeg() === undefined) return [];
  const original = join(folder, 'original.wav');
  writeFileSync(original, wav(sine(440, 16_000, 1), 16_000));
  return ['flac', 'ogg', 'm4a', 'webm', 'aiff', 'aac'].map((ending) => {
    const made = join(folder, `sound.${ending}`);
    execFileSync('ffmpeg', ['-y', '-loglevel', 'error', '-i', original, made]);
    return readFileSync(made);
  });
}

const changes: ((file: Buffer) => Buffer)[] = [
  (file) => {
    for (let n = 0; n < 4; n++) file[random.integer(Math.min(HEAD_BYTES, file.length))] = random.integer(256);
    return file;
  },
  (file) => {
    for (let n = 0; n < 20; n++) file[random.integer(file.length)] = random.integer(256);
    return file;
  },
  (file) => {
    const at = random.integer(Math.min(HEAD_BYTES, file.length - 4));
    const value = EXTREMES[random.integer(EXTREMES.length)] ?? 0;
    if (random.chance(0.5)) file.writeUInt32LE(value, at);
    else file.writeUInt32BE(value, at);
    return file;
  },
  (file) => file.subarray(0, random.integer(file.length)),
  (file) => {
    const [at, from] = [random.integer(file.length), random.integer(file.length)];
    return Buffer.concat([file.subarray(0, at), file.subarray(from, from + 500), file.subarray(at)]);
  },
];

t.test('changed files are heard, or refused with a reason', async (t) => {
  const path = join(folder, 'changed');
  for (let i = 0; i < nFiles; i++) {
    const sound = sounds[i % sounds.length] ?? Buffer.alloc(0);
    const change = changes[random.integer(changes.length)];
    writeFileSync(path, change?.(Buffer.from(sound)) ?? sound);
    let nSamples = 0;
    try {
      for await (const samples of readSound(path, { maxSeconds: MAX_SECONDS, signal: AbortSignal.timeout(600_000) }))
        nSamples += samples.length;
      t.ok(nSamples > 0 && nSamples <= MAX_SECONDS * SOUND_RATE, `${i}: ${nSamples} samples`);
    } catch (error) {
      t.ok(mediaErrors.has(error) && REFUSALS.includes(error.code), `${i}: ${String(error)}`);
    }
  }
});

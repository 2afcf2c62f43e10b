/**
 * Decodes the picture on its standard input and writes it as a small PNG to its standard output. It runs confined (ts/server/native/confinement.ts), a
 * process for one picture. Exit status 1: it is no picture that can be used.
 */
import { buffer } from 'node:stream/consumers';
import sharp from 'sharp';

/** 4,096 squared: more is no logo. */
const MOST_PIXELS = 16_777_216;
/** Twice what the pages show, for fine screens. */
const BOX = { width: 480, height: 128, fit: 'inside', withoutEnlargement: true } as const;

async function encode(file: Buffer): Promise<Buffer> {
  sharp.cache(false);
  sharp.concurrency(1);
  const image = sharp(file, { limitInputPixels: MOST_PIXELS, failOn: 'error', pages: 1 });
  return image.rotate().resize(BOX).toColourspace('srgb').png({ compressionLevel: 9 }).toBuffer();
}

try {
  process.stdout.write(await encode(await buffer(process.stdin)));
} catch {
  process.exitCode = 1;
}

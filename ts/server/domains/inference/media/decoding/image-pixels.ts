/** An encoded image -> pixels that fit a projector. Runs in a process of its own: the decoders are C. */
import sharp from 'sharp';

/** Longest side of the result; the engine takes no longer one. */
const maxSide = 8192;

/** The formats that may be read; everything else that libvips knows is switched off. */
const loaders = [
  'VipsForeignLoadPngBuffer',
  'VipsForeignLoadJpegBuffer',
  'VipsForeignLoadWebpBuffer',
  'VipsForeignLoadHeifBuffer',
  'VipsForeignLoadNsgifBuffer',
];

export interface Pixels {
  /** RGB. */
  data: Uint8Array;
  width: number;
  height: number;
}

export function prepareDecoders(): void {
  sharp.cache(false);
  sharp.concurrency(1);
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: loaders });
}

/** The first frame, turned as its EXIF data say, on white where it is transparent. Throws what libvips says. */
export async function decodePixels(bytes: Uint8Array, maxPixels: number, fitPixels: number): Promise<Pixels> {
  const image = sharp(bytes, { limitInputPixels: maxPixels, failOn: 'error', pages: 1, sequentialRead: true }).autoOrient();
  const { autoOrient } = await image.metadata();
  const { data, info } = await image
    .resize({ ...fittingSize(autoOrient.width, autoOrient.height, fitPixels), fit: 'fill', kernel: 'lanczos3' })
    .flatten({ background: '#ffffff' })
    .toColourspace('srgb')
    .removeAlpha()
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true });
  if (info.channels !== 3) throw new Error(`it has ${info.channels} channels`);
  return { data, width: info.width, height: info.height };
}

function fittingSize(width: number, height: number, fitPixels: number): { width: number; height: number } {
  const scale = Math.min(1, Math.sqrt(fitPixels / (width * height)), maxSide / Math.max(width, height));
  return { width: Math.max(1, Math.floor(width * scale)), height: Math.max(1, Math.floor(height * scale)) };
}

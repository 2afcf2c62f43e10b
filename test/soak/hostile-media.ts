/** Images and sounds that are made to hurt who decodes them, beside some that are what they say. Made once; requests share them. */
import sharp from 'sharp';
import type { SeededRandom } from '../../models/random/seeded-random.ts';
import { png, pngHeader } from '../../ts/server/domains/inference/media/test-support/images.ts';

interface Media {
  type: string;
  bytes: Buffer;
}

const formats = ['png', 'jpeg', 'webp', 'gif', 'avif'] as const;

async function makeImages(): Promise<readonly Media[]> {
  const create = { width: 96, height: 64, channels: 3, background: { r: 200, g: 30, b: 90 } } as const;
  const sound = await Promise.all(
    formats.map(async (type) => ({ type, bytes: await sharp({ create }).toFormat(type).toBuffer() })),
  );
  // Few bytes that unfold to millions of pixels: what one request may have at most, and more.
  const bomb = async (width: number) =>
    sharp({ create: { ...create, width, height: width } })
      .png({ compressionLevel: 9 })
      .toBuffer();
  const bombs = await Promise.all([3_000, 9_000].map(bomb));
  return [
    ...sound,
    ...bombs.map((bytes) => ({ type: 'png', bytes })),
    { type: 'png', bytes: Buffer.from(png(1, 1, [0, 0, 0])) },
    ...[
      [250_000, 250_000],
      [4_000_000_000, 4_000_000_000],
      [60_000, 2],
      [0, 0],
      [50, 50],
    ].map(([width = 0, height = 0]) => ({ type: 'png', bytes: Buffer.from(pngHeader(width, height)) })),
    { type: 'svg+xml', bytes: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///etc/passwd"/></svg>') },
  ];
}

let images: Promise<readonly Media[]> | undefined;

/** One as it is, cut short, with bytes changed, of another's name, or followed by what is none of it. */
export async function hostileImage(random: SeededRandom): Promise<Media> {
  images ??= makeImages();
  const all = (await images) as readonly [Media, ...Media[]];
  const { type, bytes } = random.pick(all);
  return random.pick<() => Media>([
    () => ({ type, bytes }),
    () => ({ type, bytes: bytes.subarray(0, random.integer(bytes.length + 1)) }),
    () => ({ type, bytes: damaged(random, bytes) }),
    () => ({ type: random.pick(all).type, bytes }),
    () => ({ type, bytes: Buffer.concat([bytes, Buffer.alloc(random.integer(10_000), 0xff)]) }),
  ])();
}

function damaged(random: SeededRandom, bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  for (let i = 0; i < 1 + random.integer(20); i++) copy[random.integer(copy.length)] = random.integer(256);
  return copy;
}

/** A sound whose header promises anything. */
export function hostileSound(random: SeededRandom): { format: string; data: string } {
  const bytes = Buffer.alloc(44 + random.integer(4_000));
  bytes.write('RIFF', 0, 'latin1');
  bytes.writeUInt32LE(random.pick([bytes.length - 8, 0, 0xffff_ffff]), 4);
  bytes.write('WAVEfmt ', 8, 'latin1');
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(random.pick([1, 3, 0xfffe]), 20);
  bytes.writeUInt16LE(random.pick([1, 2, 0, 65_535]), 22);
  bytes.writeUInt32LE(random.pick([16_000, 0, 1, 0xffff_ffff]), 24);
  bytes.writeUInt16LE(random.pick([2, 0, 65_535]), 32);
  bytes.writeUInt16LE(random.pick([16, 0, 1, 64]), 34);
  bytes.write('data', 36, 'latin1');
  bytes.writeUInt32LE(random.pick([bytes.length - 44, 0, 0xffff_fff0]), 40);
  return { format: random.pick(['wav', 'mp3']), data: bytes.toString('base64') };
}

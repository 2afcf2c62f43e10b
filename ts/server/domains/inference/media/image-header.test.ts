import sharp from 'sharp';
import t from 'tap';
import { readImageSize } from './image-header.ts';

const formats = ['png', 'jpeg', 'webp', 'gif', 'avif'] as const;

for (const format of formats) {
  t.test(`the size of ${format} is what its decoder says`, async (t) => {
    const image = await sharp({ create: { width: 321, height: 65, channels: 3, background: 'red' } })
      .toFormat(format)
      .toBuffer();
    t.strictSame(readImageSize(image), { width: 321, height: 65 });
  });

  t.test(`${format} that is cut off or altered anywhere is read or not, and never throws`, async (t) => {
    const image = await sharp({ create: { width: 40, height: 30, channels: 4, background: '#ff000080' } })
      .withExif({ IFD0: { Copyright: 'x'.repeat(300) } })
      .toFormat(format)
      .toBuffer();
    for (let length = 0; length < image.length; length++) readImageSize(image.subarray(0, length));
    for (let at = 0; at < Math.min(image.length, 2_000); at++) {
      for (const value of [0, 0x7f, 0xff]) {
        const altered = Buffer.from(image);
        altered[at] = value;
        const size = readImageSize(altered);
        if (size && !(size.width > 0 && size.height > 0)) t.fail(`byte ${at} as ${value} gives ${JSON.stringify(size)}`);
      }
    }
    t.equal(readImageSize(image.subarray(0, 4)), undefined);
  });
}

t.test('lossless and animated WebP tell their size too', async (t) => {
  const create = { width: 33, height: 17, channels: 4 as const, background: '#ff000080' };
  const lossless = await sharp({ create }).webp({ lossless: true }).toBuffer();
  t.strictSame(readImageSize(lossless), { width: 33, height: 17 });
});

t.test('a GIF frame that is larger than its screen counts', async (t) => {
  const gif = Buffer.from('GIF89a\x01\x00\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x10\x27\x10\x27\x00', 'latin1');
  t.strictSame(readImageSize(gif), { width: 10_000, height: 10_000 });
});

t.test('what is no image has no size', async (t) => {
  for (const text of ['', 'pixels', '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>', 'BM', '%PDF-1.7'])
    t.equal(readImageSize(Buffer.from(text.padEnd(64, ' '))), undefined, text);
});

t.test('a header that goes on and on is no header: the event loop reads so many parts of it', async (t) => {
  const frame = [0xff, 0xc0, 0, 11, 8, 0, 2, 0, 3, 1, 1, 17, 0];
  const jpeg = (nFill: number) => Uint8Array.from([0xff, 0xd8, ...new Array<number>(nFill).fill(0xff), ...frame]);
  t.strictSame(readImageSize(jpeg(1_000)), { width: 3, height: 2 });
  t.equal(readImageSize(jpeg(1_000_000)), undefined);
  const head = [...Buffer.from('GIF89a'), 3, 0, 2, 0, 0, 0, 0];
  const gif = (extensions: number[]) => Uint8Array.from([...head, ...extensions, 0x2c, 0, 0, 0, 0, 3, 0, 2, 0, 0]);
  const comments = (count: number) => Array.from({ length: count }, () => [0x21, 0xfe, 1, 65, 0]).flat();
  const comment = (nBlocks: number) => [0x21, 0xfe, ...Array.from({ length: nBlocks }, () => [1, 65]).flat(), 0];
  for (const write of [comments, comment]) {
    t.strictSame(readImageSize(gif(write(1_000))), { width: 3, height: 2 });
    t.equal(readImageSize(gif(write(100_000))), undefined);
  }
});

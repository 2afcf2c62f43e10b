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

import t from 'tap';
import { RequestMedia } from './request-media.ts';
import { pngHeader } from './test-support/images.ts';

const image = (width: number, height: number) => pngHeader(width, height).toString('base64');

t.test('pixels are counted by the header, for each image and for the request', async (t) => {
  const media = new RequestMedia();
  t.throws(() => media.addImage(image(8_001, 8_000), 'a'), {
    code: 'invalid_request',
    param: 'a',
    message: /8001 x 8000 pixels; at most 64000000/,
  });
  for (let i = 0; i < 4; i++) t.equal(media.addImage(image(8_000, 8_000), `image ${i}`), `attached:${i}`);
  t.throws(() => media.addImage(image(1, 1), 'e'), {
    code: 'invalid_request',
    param: 'e',
    message: /a request may have 256000000/,
  });
});

t.test('a thread of pixels is refused: projectors would blow it up', async (t) => {
  const media = new RequestMedia();
  t.throws(() => media.addImage(image(60_000, 1), 'a'), { param: 'a', message: /200 times as long/ });
  t.equal(media.addImage(image(200, 1), 'b'), 'attached:0');
});

t.test('other files, other encodings and too many parts are refused', async (t) => {
  const media = new RequestMedia();
  t.throws(() => media.addImage(Buffer.from('GIF').toString('base64'), 'a'), { message: /PNG, JPEG, WebP, GIF or AVIF/ });
  t.throws(() => media.addImageUrl('https://example.com/a.png', 'a'), { message: /fetches none/ });
  t.throws(() => media.addSound('AAAA', 'ogg', 'a'), { param: 'a.format', message: /wav, mp3/ });
  t.throws(() => media.addSound('!', 'wav', 'a'), { param: 'a.data', message: /base64/ });
  for (let i = 0; i < 64; i++) media.addSound('AAAA', 'wav', 'a');
  t.throws(() => media.addSound('AAAA', 'wav', 'a'), { message: /at most 64/ });
});

/** With the real processes, confined as the server confines them. */
import sharp from 'sharp';
import t, { type Test } from 'tap';
import type { EncodedMedia } from './encoded-media.ts';
import { MediaDecoder } from './media-decoder.ts';
import { png, pngHeader } from './test-support/images.ts';
import { silentMp3, sine, wav } from './test-support/sounds.ts';

const wants = { imagePixels: 10_000, soundRate: 16_000 };
const { signal } = new AbortController();
const encoded = (bytes: Uint8Array, width: number, height: number): EncodedMedia => ({
  kind: 'image',
  bytes,
  width,
  height,
  param: 'messages[0].content[0]',
});
const sound = (bytes: Uint8Array, format: 'wav' | 'mp3' = 'wav'): EncodedMedia => ({ kind: 'audio', bytes, format, param: 'a' });

function open(t: Test): MediaDecoder {
  const decoder = new MediaDecoder({ nProcesses: 1 });
  t.teardown(() => decoder.close());
  return decoder;
}

t.test('every format becomes pixels, small enough for the projector', async (t) => {
  const decoder = open(t);
  const create = { width: 300, height: 150, channels: 3 as const, background: { r: 200, g: 30, b: 20 } };
  for (const format of ['png', 'jpeg', 'webp', 'gif', 'avif'] as const) {
    const bytes = await sharp({ create }).toFormat(format).toBuffer();
    const [image] = await decoder.decode('a', [encoded(bytes, 300, 150)], wants, signal);
    if (image?.kind !== 'image') return t.fail('no image came back');
    t.match(image, { width: 141, height: 70 }, format);
    const pixels = image.pixels as Uint8Array;
    t.equal(pixels.length, 3 * 141 * 70);
    const [red = 0, green = 0, blue = 0] = pixels.subarray(3 * 5000);
    t.ok(Math.abs(red - 200) < 8 && Math.abs(green - 30) < 8 && Math.abs(blue - 20) < 8, `${format}: ${red} ${green} ${blue}`);
  }
  const [small] = await decoder.decode('a', [encoded(png(7, 5, [1, 2, 3]), 7, 5)], wants, signal);
  t.match(small, { width: 7, height: 5 }, 'a small image stays as it is');
});

t.test('transparent parts are white, and a turned photo is turned back', async (t) => {
  const decoder = open(t);
  const clear = await sharp({ create: { width: 4, height: 4, channels: 4, background: '#00000000' } })
    .png()
    .toBuffer();
  const [white] = await decoder.decode('a', [encoded(clear, 4, 4)], wants, signal);
  t.strictSame([...(white?.kind === 'image' ? (white.pixels as Uint8Array).subarray(0, 3) : [])], [255, 255, 255]);
  const turned = await sharp(png(8, 4, [9, 9, 9]))
    .withMetadata({ orientation: 6 })
    .jpeg()
    .toBuffer();
  t.match(await decoder.decode('a', [encoded(turned, 8, 4)], wants, signal), [{ width: 4, height: 8 }]);
});

t.test('hostile files are refused and cost nobody else anything', async (t) => {
  const decoder = open(t);
  const refused = { code: 'invalid_media', param: 'messages[0].content[0]' };
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>');
  const large = await sharp({ create: { width: 3_000, height: 3_000, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
  const cut = png(64, 64, [1, 2, 3]).subarray(0, 90);
  await t.rejects(decoder.decode('a', [encoded(svg, 9, 9)], wants, signal), refused, 'a format that nobody asked for');
  await t.rejects(decoder.decode('a', [encoded(large, 30, 30)], wants, signal), refused, 'more pixels than its header told');
  await t.rejects(decoder.decode('a', [encoded(pngHeader(9, 9), 9, 9)], wants, signal), refused, 'a header alone');
  await t.rejects(decoder.decode('a', [encoded(cut, 64, 64)], wants, signal), refused, 'cut off');
  t.match(await decoder.decode('b', [encoded(png(7, 5, [1, 2, 3]), 7, 5)], wants, signal), [{ width: 7, height: 5 }]);
});

t.test('WAVE and MP3 become samples at the rate of the projector', async (t) => {
  const decoder = open(t);
  const [heard] = await decoder.decode('a', [sound(wav(sine(440, 44_100, 0.5), 44_100))], wants, signal);
  if (heard?.kind !== 'audio') return t.fail('no sound came back');
  const bytes = heard.samples as Uint8Array;
  const samples = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  t.equal(samples.length, 8_000);
  const expected = sine(440, 16_000, 0.5);
  const worst = samples
    .subarray(200, 7_800)
    .reduce((most, sample, i) => Math.max(most, Math.abs(sample - (expected[i + 200] ?? 0))), 0);
  t.ok(worst < 0.01, `off by ${worst} at most`);
  const [silence] = await decoder.decode('a', [sound(silentMp3(20), 'mp3')], wants, signal);
  const nSamples = silence?.kind === 'audio' ? (silence.samples as Uint8Array).length / 4 : 0;
  t.ok(nSamples > 7_000 && nSamples <= (20 * 1_152 * 16_000) / 44_100, `${nSamples} samples`);
  await t.rejects(decoder.decode('a', [sound(Buffer.from('RIFF'))], wants, signal), { code: 'invalid_media' });
  await t.rejects(decoder.decode('a', [sound(Buffer.from('no sound'), 'mp3')], wants, signal), { code: 'invalid_media' });
});

t.test('what the projector does not take is refused before it is decoded', async (t) => {
  const decoder = open(t);
  const blind = { imagePixels: 0, soundRate: 0 };
  await t.rejects(decoder.decode('a', [encoded(png(1, 1, [0, 0, 0]), 1, 1)], blind, signal), { code: 'unsupported' });
  await t.rejects(decoder.decode('a', [sound(wav(sine(440, 16_000, 0.1), 16_000))], blind, signal), { code: 'unsupported' });
  t.equal(decoder.stats().nProcesses, 0);
});

t.test('a process serves one tenant, ends with it, and tenants take turns', async (t) => {
  const started: string[] = [];
  const order: string[] = [];
  const start = () => {
    const name = String(started.push('') - 1);
    return {
      isUsable: true,
      decode: async ({ sizeBytes }: { sizeBytes: number }) => {
        order.push(`${name}:${sizeBytes}`);
        await new Promise((resolve) => setImmediate(resolve));
        return { bytes: new Uint8Array(3), width: 1, height: 1 };
      },
      end: () => {
        started[Number(name)] = 'ended';
      },
    };
  };
  const decoder = new MediaDecoder({ nProcesses: 1, start });
  const image = (sizeBytes: number) => encoded(new Uint8Array(sizeBytes), 1, 1);
  await Promise.all([
    decoder.decode('a', [image(1), image(2), image(3)], wants, signal),
    decoder.decode('b', [image(10)], wants, signal),
  ]);
  t.strictSame(order, ['0:1', '0:2', '1:10', '2:3'], 'image by image, and the process of another tenant is replaced');
  t.strictSame(
    started.slice(0, -1).filter((each) => each !== 'ended'),
    [],
    'whoever served another tenant is gone',
  );
  decoder.close();
  t.match(decoder.stats(), { nWaiting: 0, waitingBytes: 0, nProcesses: 0 });
});

t.test('what waits is bounded, for one tenant and for all', async (t) => {
  const start = () => ({ isUsable: true, decode: () => new Promise<never>(() => {}), end: () => {} });
  const decoder = new MediaDecoder({ nProcesses: 1, start });
  const large = encoded(new Uint8Array(1), 8_000, 8_000);
  const pending: Promise<unknown>[] = [];
  const enter = (tenant: string) => pending.push(decoder.decode(tenant, [large], wants, signal).catch(() => {}));
  for (let i = 0; i < 5; i++) enter('a');
  await t.rejects(decoder.decode('a', [large], wants, signal), { code: 'queue_full' });
  for (let i = 0; i < 5; i++) enter('b');
  await t.rejects(decoder.decode('b', [large], wants, signal), { code: 'queue_full' });
  enter('c');
  await t.rejects(decoder.decode('c', [large], wants, signal), { code: 'queue_full' });
  decoder.close();
});

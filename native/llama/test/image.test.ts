/** Image input through mtmd, with a random projector: the picture is decoded, encoded and changes the answer. */
import { deflateSync } from 'node:zlib';
import t from 'tap';
import { randomModel, randomProjector } from '../../../models/random/fixture.ts';
import { type LlamaEngine, LlamaModel } from '../../../ts/server/native/llama.ts';
import { complete } from './completion.ts';

t.test('two pictures give two answers, the same picture the same one', async (t) => {
  const model = await LlamaModel.load({ path: await randomModel(), projectorPath: await randomProjector() });
  t.teardown(() => model.close());
  t.ok(model.info.supportsVision);
  const engine = await model.createEngine({ nParallel: 1, nCtx: 512, nThreads: 1 });
  t.teardown(() => engine.close());
  const look = (picture: Uint8Array) => complete(engine, { prompt, media: [picture], maxTokens: 8 });
  const red = await look(png([220, 30, 20]));
  const blue = await look(png([10, 40, 230]));
  const redAgain = await look(png([220, 30, 20]));
  t.equal(red.tokens.length, 8);
  t.not(red.tokens.join(), blue.tokens.join());
  t.equal(red.tokens.join(), redAgain.tokens.join());
  await t.rejects(look(Buffer.from('no picture')), { name: 'NativeError', code: 'invalid_media' });
});

t.test('pictures that do not fit side by side are seen one after the other', async (t) => {
  const model = await LlamaModel.load({ path: await randomModel(), projectorPath: await randomProjector() });
  t.teardown(() => model.close());
  const pictures = Array.from({ length: 6 }, (_, i) => png([40 * i, 30, 20]));
  const look = (engine: LlamaEngine) => (picture: Uint8Array) => complete(engine, { prompt, media: [picture], maxTokens: 24 });
  const alone = await model.createEngine({ nParallel: 1, nCtx: 512, nThreads: 1 });
  t.teardown(() => alone.close());
  const { nPromptTokens } = (await look(alone)(png([0, 0, 0]))).usage;
  // Room for one and a half, so that the second one meets a full buffer.
  const engine = await model.createEngine({
    nParallel: 4,
    nCtx: 256 * Math.ceil((1.5 * (nPromptTokens + 24)) / 256),
    kvUnified: true,
    nThreads: 1,
  });
  t.teardown(() => engine.close());
  for (const { tokens } of await Promise.all(pictures.map(look(engine)))) t.equal(tokens.length, 24);
});

const parts = [
  { type: 'text', text: 'What is this?' },
  { type: 'image_url', image_url: { url: 'data:' } },
];
const prompt = { kind: 'chat', messagesJson: JSON.stringify([{ role: 'user', content: parts }]) } as const;

/** A PNG of one colour, 56 x 56; checksums are left at zero, which the decoder does not mind. */
function png(colour: [red: number, green: number, blue: number]): Buffer {
  const size = 56;
  const row = Buffer.from([0, ...Array.from({ length: size }, () => colour).flat()]);
  const head = Buffer.alloc(13);
  head.writeUInt32BE(size, 0);
  head.writeUInt32BE(size, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const chunk = (name: string, data: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    return Buffer.concat([length, Buffer.from(name, 'latin1'), data, Buffer.alloc(4)]);
  };
  const pixels = deflateSync(Buffer.concat(Array.from({ length: size }, () => row)));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk('IHDR', head), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))]);
}

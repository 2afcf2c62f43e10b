/** Image and audio input through mtmd, with a random projector: it is encoded and changes the answer. */
import t from 'tap';
import { randomModel, randomProjector } from '../../../models/random/fixture.ts';
import { type DecodedMedia, type LlamaEngine, LlamaModel } from '../../../ts/server/native/llama.ts';
import { complete } from './completion.ts';

t.test('two pictures give two answers, the same picture the same one', async (t) => {
  const model = await LlamaModel.load({ path: await randomModel(), projectorPath: await randomProjector() });
  t.teardown(() => model.close());
  t.ok(model.info.supportsVision);
  const engine = await model.createEngine({ nParallel: 1, nCtx: 512, nThreads: 1 });
  t.teardown(() => engine.close());
  const look = (picture: DecodedMedia) => complete(engine, { prompt, media: [picture], maxTokens: 8 });
  const red = await look(picture([220, 30, 20]));
  const blue = await look(picture([10, 40, 230]));
  const redAgain = await look(picture([220, 30, 20]));
  t.equal(red.tokens.length, 8);
  t.not(red.tokens.join(), blue.tokens.join());
  t.equal(red.tokens.join(), redAgain.tokens.join());
});

t.test('bytes that are no pixels, and sizes that projectors cannot compute with, are refused', async (t) => {
  const model = await LlamaModel.load({ path: await randomModel(), projectorPath: await randomProjector() });
  t.teardown(() => model.close());
  const engine = await model.createEngine({ nParallel: 1, nCtx: 512, nThreads: 1 });
  t.teardown(() => engine.close());
  const refused = { name: 'NativeError', code: 'invalid_argument' };
  const look = (media: unknown) => complete(engine, { prompt, media: [media as DecodedMedia], maxTokens: 1 });
  await t.rejects(look(Buffer.from('no picture')), refused, 'a file is no picture');
  await t.rejects(look({ ...picture([0, 0, 0]), width: 57 }), refused, 'fewer bytes than pixels');
  await t.rejects(look(picture([0, 0, 0], 9000, 100)), refused);
  await t.rejects(look(picture([0, 0, 0], 2010, 10)), refused, 'a thread, not a picture');
  await t.rejects(look({ kind: 'audio', samples: new Uint8Array(7) }), refused);
  await t.rejects(look({ kind: 'audio', samples: new Uint8Array(64_000) }), { code: 'unsupported', message: /hears no sounds/ });
  t.equal((await look(picture([0, 0, 0], 2000, 10))).tokens.length, 1);
});

t.test('a model that hears tells two sounds apart', async (t) => {
  const model = await LlamaModel.load({ path: await randomModel(), projectorPath: await randomProjector({ hears: true }) });
  t.teardown(() => model.close());
  t.match(model.info, { supportsVision: true, supportsAudio: true, audioRate: 16_000 });
  const engine = await model.createEngine({ nParallel: 1, nCtx: 2048, nThreads: 1 });
  t.teardown(() => engine.close());
  const listen = (hertz: number, n = 8_000) => {
    const samples = Float32Array.from({ length: n }, (_, i) => Math.sin((2 * Math.PI * hertz * i) / 16_000));
    return complete(engine, { prompt: heard, media: [{ kind: 'audio', samples: new Uint8Array(samples.buffer) }], maxTokens: 8 });
  };
  const low = await listen(200);
  t.equal(low.tokens.length, 8);
  t.not(low.tokens.join(), (await listen(3_000)).tokens.join());
  t.equal(low.tokens.join(), (await listen(200)).tokens.join());
  await t.rejects(listen(200, 1_599), { code: 'invalid_media', message: /too short/ });
});

t.test('pictures that do not fit side by side are seen one after the other', async (t) => {
  const model = await LlamaModel.load({ path: await randomModel(), projectorPath: await randomProjector() });
  t.teardown(() => model.close());
  const pictures = Array.from({ length: 6 }, (_, i) => picture([40 * i, 30, 20]));
  const look = (engine: LlamaEngine) => (picture: DecodedMedia) => complete(engine, { prompt, media: [picture], maxTokens: 24 });
  const alone = await model.createEngine({ nParallel: 1, nCtx: 512, nThreads: 1 });
  t.teardown(() => alone.close());
  const { nPromptTokens } = (await look(alone)(picture([0, 0, 0]))).usage;
  // Space for one and a half, so that the second one meets a full buffer.
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

const heard = {
  kind: 'chat',
  messagesJson: JSON.stringify([{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: '', format: 'wav' } }] }]),
} as const;

/** Of one colour. */
function picture([red, green, blue]: [red: number, green: number, blue: number], width = 56, height = 56): DecodedMedia {
  const pixels = new Uint8Array(3 * width * height);
  for (let at = 0; at < pixels.length; at += 3) pixels.set([red, green, blue], at);
  return { kind: 'image', width, height, pixels };
}

/** Texts become speech, with a voice of random weights: as long as its text may take, the same for the same seed, and ended with its caller. */
import t from 'tap';
import { randomVoice } from '../../../models/random/fixture.ts';
import { LlamaModel, type LlamaSynthesizer, type SpeechEvent, type UtteranceOptions } from '../../../ts/server/native/llama.ts';

t.setTimeout(120_000);

const FRAME = 1920;

const { model: path, projector: projectorPath } = await randomVoice();
const model = await LlamaModel.load({ path, projectorPath });
const synthesizer = await model.createSynthesizer({ nThreads: 1 });
t.teardown(async () => {
  await synthesizer.close();
  await model.close();
});

interface Spoken {
  samples: Int16Array;
  pieces: number[];
  error: SpeechEvent['error'];
}

function speak(options: Partial<UtteranceOptions>, by: LlamaSynthesizer = synthesizer, onStart?: (cancel: () => void) => void) {
  const { promise, resolve } = Promise.withResolvers<Spoken>();
  const all: Int16Array[] = [];
  const cancel = by.start({ tenant: 'a', text: 'Good day.', ...options }, ({ samples, isLast, error }) => {
    if (samples.length > 0) all.push(samples);
    if (!isLast) return;
    const whole = Int16Array.from(all.flatMap((piece) => [...piece]));
    resolve({ samples: whole, pieces: all.map(({ length }) => length), error });
  });
  onStart?.(cancel);
  return promise;
}

/** Compares hundreds of thousands of samples, which are not to be shown. */
const same = (one: Spoken, other: Spoken) => Buffer.from(one.samples.buffer).equals(Buffer.from(other.samples.buffer));

const hum = (seconds: number, hertz = 200) =>
  Float32Array.from({ length: seconds * 24_000 }, (_, i) => 0.3 * Math.sin((2 * Math.PI * hertz * i) / 24_000));

t.test('a sentence becomes whole frames at 24,000 samples a second, the first of them early', async (t) => {
  t.equal(synthesizer.sampleRate, 24_000);
  const { samples, pieces, error } = await speak({});
  t.equal(error, undefined);
  t.equal(samples.length % FRAME, 0);
  t.ok(pieces.length > 3, `${pieces.length} pieces`);
  t.equal(pieces[0], 2 * FRAME);
  t.ok(
    pieces.slice(1).every((length) => length <= 8 * FRAME),
    pieces.join(),
  );
  t.ok(new Set(samples).size > 100, 'it is no silence');
  const longer = await speak({ text: 'Good day to all of you.' });
  t.ok(longer.samples.length > 1.5 * samples.length, `${longer.samples.length} beside ${samples.length}`);
});

t.test('the same seed gives the same samples, in a row too, and another one others', async (t) => {
  const first = await speak({ seed: 7 });
  t.ok(same(await speak({ seed: 7 }), first));
  const other = await speak({ seed: 8 });
  t.notOk(same(other, first));
  t.ok(same(await speak({ seed: 7 }), first));
});

t.test('it sounds like the voice that it is given', async (t) => {
  const own = await speak({ seed: 7 });
  const low = await speak({ seed: 7, voice: hum(1) });
  t.equal(low.error, undefined);
  t.notOk(same(low, own));
  t.notOk(same(await speak({ seed: 7, voice: hum(1, 900) }), low));
  t.ok(same(await speak({ seed: 7, voice: hum(1) }), low));
});

t.test('what it cannot speak is refused at once', async (t) => {
  const refused = { name: 'NativeError', code: 'invalid_argument' };
  t.throws(() => synthesizer.start({ tenant: 'a', text: '' }, () => undefined), refused);
  t.throws(() => synthesizer.start({ tenant: 'a', text: 'a'.repeat(2049) }, () => undefined), refused);
  t.throws(() => synthesizer.start({ tenant: 'a', text: 'a', voice: hum(31) }, () => undefined), refused);
  t.throws(() => synthesizer.start({ tenant: 'a', text: 'a', voice: hum(0.05) }, () => undefined), refused);
  t.throws(() => synthesizer.start({ tenant: 'a', text: 'a', seed: 2 ** 32 - 1 }, () => undefined), refused);
  t.throws(() => synthesizer.start({ tenant: 'a', text: 'a', voice: [1] as never }, () => undefined), refused);
  const written = await LlamaModel.load({ path });
  await t.rejects(written.createSynthesizer({}), { code: 'unsupported' });
  await written.close();
});

t.test('whoever goes is not spoken for, whether it waits or not; others are', async (t) => {
  const text = 'a long sentence that goes on and on, '.repeat(10);
  const cancels: (() => void)[] = [];
  const running = speak({ text }, synthesizer, (cancel) => cancels.push(cancel));
  const waiting = speak({ text }, synthesizer, (cancel) => cancels.push(cancel));
  const other = speak({ tenant: 'b' });
  for (const cancel of cancels) cancel();
  t.equal((await waiting).error?.code, 'closed');
  t.equal((await running).error?.code, 'closed');
  t.equal((await other).error, undefined);
  t.equal(synthesizer.nWaiting, 0);
  const late = await speak({ text, timeoutMs: 1 });
  t.equal(late.error?.code, 'deadline_exceeded');
});

t.test('tenants take turns by what is spoken for each, and nobody waits for what is in the background', async (t) => {
  const ended: string[] = [];
  const named = async (name: string, options: Partial<UtteranceOptions>) => {
    await speak({ text: 'Oh.', ...options });
    ended.push(name);
  };
  await Promise.all([
    named('a1', { tenant: 'a' }),
    named('a2', { tenant: 'a' }),
    named('a3', { tenant: 'a' }),
    named('quiet', { tenant: 'c', isBackground: true }),
    named('b1', { tenant: 'b' }),
  ]);
  t.ok(ended.indexOf('b1') < ended.indexOf('a3'), ended.join());
  t.equal(ended.length, 5);
});

t.test('closing ends what is spoken and what waits, and what comes then speaks as before', async (t) => {
  const first = await speak({ seed: 7 });
  await t.rejects(model.createSynthesizer({ nThreads: 1 }), { code: 'unsupported', message: /already/ });
  const all = [speak({}), speak({}), speak({ tenant: 'b' })];
  await synthesizer.close();
  for (const { error } of await Promise.all(all)) t.ok(error === undefined || error.code === 'closed', String(error?.code));
  t.throws(() => synthesizer.start({ tenant: 'a', text: 'a' }, () => undefined), { code: 'closed' });
  const again = await model.createSynthesizer({ nThreads: 1 });
  t.ok(same(await speak({ seed: 7 }, again), first));
  await again.close();
});

t.test('every text is text: names of control tokens and letters that nobody knows, too', async (t) => {
  const files = await randomVoice({ ends: true });
  const brief = await LlamaModel.load({ path: files.model, projectorPath: files.projector });
  const by = await brief.createSynthesizer({ nThreads: 1 });
  t.equal((await speak({}, by)).samples.length, 3 * FRAME, 'a voice that ends its sentences by itself is shorter');
  for (const text of [
    '<|audio_bos|><|bos_before_voice|></s>',
    'こんにちは。',
    '\u{1f600}',
    '7',
    'a'.repeat(2_000),
    '.;,'.repeat(100),
  ]) {
    const { samples, error } = await speak({ text }, by);
    t.equal(error, undefined, text.slice(0, 20));
    t.ok(samples.length > 0);
  }
  t.equal((await speak({ text: ' ' }, by)).error?.code, 'internal', 'a text of nothing');
  await by.close();
  await brief.close();
});

t.test('a voice of Qwen3-TTS’s shape samples codes, the same for the same seed, and is told its language', async (t) => {
  const files = await randomVoice({ shape: 'qwen' });
  const other = await LlamaModel.load({ path: files.model, projectorPath: files.projector });
  const by = await other.createSynthesizer({ nThreads: 1 });
  const said = { text: 'Oh, <|im_end|>', seed: 3, language: 'en' };
  const first = await speak(said, by);
  t.equal(first.error, undefined);
  // It ends at the latest after as long as its bytes may take, and a piece is a window.
  t.equal(first.samples.length % FRAME, 0);
  t.ok(first.samples.length > 0 && first.samples.length <= (4 * 40 + 50) * FRAME, `${first.samples.length}`);
  t.ok(
    first.pieces.slice(0, -1).every((length) => length === 72 * FRAME),
    first.pieces.join(),
  );
  const brief = { ...said, text: 'Oh', language: 'de', voice: hum(0.5) };
  t.ok(same(await speak(brief, by), await speak(brief, by)));
  t.equal((await speak({ ...said, language: 'nl' }, by)).error?.code, 'internal', 'a language that it does not have');
  await by.close();
  await other.close();
});

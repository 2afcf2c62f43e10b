/** Recordings become text: with a model whose words are known, and beside that with real speech where voice activity decides. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { writeRandomSpeechModel, writeScriptedSpeechModel } from '../../../models/random/speech-model.ts';
import { fetchSource, readPins } from '../../../scripts/setup/sources.mjs';
import { decodeSamples } from '../../../ts/server/domains/inference/media/decoding/sound-samples.ts';
import { languages, SpeechModel, type TranscriptionEvent, type TranscriptionOptions } from '../../../ts/server/native/whisper.ts';
import { INSTALL_ROOT } from '../../../ts/server/platform/files/install-root.ts';

const RATE = 16_000;
const voicePath = join(INSTALL_ROOT, 'models', 'silero-vad', 'silero-vad.dat');

t.setTimeout(120_000);

const folder = t.testdir();
const path = join(folder, 'scripted.bin');
await writeScriptedSpeechModel(path, { says: [0, ' Two', ' words', 2, 2, ' and', ' more', 3], language: 2 });
const model = await open(t);

async function open(test: Test, more: { nMostJobs?: number; path?: string } = {}): Promise<SpeechModel> {
  const opened = await SpeechModel.load({ path, voicePath, nStates: 1, nThreads: 1, nMostJobs: 64, ...more });
  test.teardown(() => opened.close());
  return opened;
}

/** The samples of a person, 11 s. */
const pin = readPins()['whisper.cpp'];
const speech = await decodeSamples(readFileSync(join(pin ? await fetchSource(pin) : '', 'samples', 'jfk.mp3')), 'mp3', RATE, 60);
const silence = (seconds: number) => new Float32Array(seconds * RATE);

interface Whole extends TranscriptionEvent {
  all: TranscriptionEvent['segments'];
}

/** Writes as the addon wants it, and waits for the last event. */
function transcribe(from: SpeechModel, options: Partial<TranscriptionOptions>, ...pieces: Float32Array[]): Promise<Whole> {
  const all: Whole['all'] = [];
  return new Promise((resolve, reject) => {
    let rest = pieces;
    const recording = from.start({ tenant: 'a', ...options }, (event) => {
      all.push(...event.segments);
      if (event.wantsSamples) write();
      if (event.isLast && event.error) reject(event.error);
      else if (event.isLast) resolve({ ...event, all });
    });
    const write = () => {
      while (rest[0] !== undefined) {
        const [piece] = rest;
        rest = rest.slice(1);
        if (!recording.write(piece)) return;
      }
      recording.end();
    };
    write();
  });
}

const textsOf = (whole: Whole) => whole.all.map(({ text }) => text);

t.test('a window becomes segments with times, tokens and the language that was found', async (t) => {
  const whole = await transcribe(model, { skipsSilence: false }, silence(5));
  t.strictSame(textsOf(whole), [' Two words', ' and more']);
  t.match(whole.all, [
    { begin: 0, end: 2 },
    { begin: 2, end: 3 },
  ]);
  t.match(whole, { language: 'de', duration: 5, doneSeconds: 5, speechSeconds: 5 });
  const [first] = whole.all;
  t.equal(first?.tokens.length, first?.logprobs.length);
  t.equal(Buffer.concat(first?.texts ?? []).toString(), ' Two words');
  t.ok((first?.avgLogprob ?? -9) > -0.5, `${first?.avgLogprob}`);
});

t.test('a model that doubts that somebody speaks says so, whatever came before', async (t) => {
  const doubting = join(folder, 'doubts.bin');
  await writeScriptedSpeechModel(doubting, { says: [0, ' Two', ' words', 2], language: 2, doubts: true });
  for (const [file, least, most] of [
    [path, 0, 0.01],
    [doubting, 0.9, 1],
  ] as const) {
    const opened = await open(t, { path: file });
    await transcribe(opened, { skipsSilence: false }, speech);
    const { all, language } = await transcribe(opened, { skipsSilence: false }, silence(5));
    const probability = all[0]?.noSpeechProb ?? -1;
    t.ok(probability >= least && probability <= most, `${probability}`);
    t.equal(language, 'de');
  }
});

t.test('what was heard before changes nothing', async (t) => {
  const file = join(folder, 'random.bin');
  await writeRandomSpeechModel(file, 7);
  const random = await open(t, { path: file });
  const hear = (sound: Float32Array) => transcribe(random, { skipsSilence: false, hasWords: true }, sound);
  const first = await hear(speech);
  t.ok((first.all[0]?.tokens.length ?? 0) > 1);
  await hear(silence(3));
  t.strictSame((await hear(speech)).all, first.all);
});

t.test('words have times within their segment', async (t) => {
  const whole = await transcribe(model, { skipsSilence: false, hasWords: true }, silence(5));
  t.strictSame(
    whole.all[0]?.words.map(({ text }) => text),
    [' Two', ' words'],
  );
  for (const { begin, end, words } of whole.all)
    for (const word of words)
      t.ok(word.begin >= begin && word.end >= word.begin && word.end <= end, JSON.stringify({ begin, end, word }));
});

t.test('a language that is given wins, and one that nobody knows is refused', async (t) => {
  t.equal((await transcribe(model, { skipsSilence: false, language: 'fr' }, silence(5))).language, 'fr');
  t.throws(() => model.start({ tenant: 'a', language: 'xx' }, () => undefined), { code: 'invalid_argument' });
  t.ok(languages().some(({ code, name }) => code === 'de' && name === 'german'));
});

t.test('silence gives an empty text, and speech is found where it is', async (t) => {
  const nothing = await transcribe(model, {}, silence(40));
  t.strictSame(textsOf(nothing), []);
  t.match(nothing, { duration: 40, speechSeconds: 0 });
  const whole = await transcribe(model, {}, silence(20), speech, silence(20), speech);
  t.strictSame(textsOf(whole), [' Two words', ' and more', ' Two words', ' and more']);
  const begins = [whole.all[0]?.begin ?? 0, whole.all[2]?.begin ?? 0];
  t.ok((begins[0] ?? 0) > 19 && (begins[0] ?? 0) < 21, `${begins}`);
  t.ok((begins[1] ?? 0) > 50 && (begins[1] ?? 0) < 52.2, `${begins}`);
  t.ok(whole.speechSeconds > 12 && whole.speechSeconds < 22, `${whole.speechSeconds}`);
});

t.test('times never pass the end of the recording, nor go back', async (t) => {
  const whole = await transcribe(model, { skipsSilence: false }, silence(30), silence(30), silence(1));
  const times = whole.all.flatMap(({ begin, end }) => [begin, end]);
  t.ok(times.length >= 4);
  t.ok(
    times.every((time, i) => time >= (times[i - 1] ?? 0) && time <= 61),
    times.join(),
  );
});

t.test('a line that a model repeats on and on is cut off', async (t) => {
  const file = join(folder, 'circles.bin');
  await writeScriptedSpeechModel(file, {
    says: [0, ' Again', 1, 1, ' Again', 2, 2, ' Again', 3, 3, ' Again', 4, 4, ' Again', 5],
  });
  const circles = await open(t, { path: file });
  const whole = await transcribe(circles, { skipsSilence: false }, silence(6));
  t.strictSame(textsOf(whole), [' Again', ' Again', ' Again']);
});

t.test('however the samples arrive, and beside others, the same text comes out', async (t) => {
  const sound = new Float32Array([...silence(3), ...speech, ...silence(2), ...speech]);
  const pieces: Float32Array[] = [];
  for (let at = 0; at < sound.length; at += 7_001) pieces.push(sound.subarray(at, at + 7_001));
  const alone = await transcribe(model, {}, sound);
  const both = await Promise.all(Array.from({ length: 8 }, (_, i) => transcribe(model, { tenant: `${i % 3}` }, ...pieces)));
  for (const whole of both) t.strictSame(whole.all, alone.all);
});

t.test('a job that is cancelled ends at once and leaves the others alone', async (t) => {
  const kept = transcribe(model, { skipsSilence: false }, silence(5));
  const ended = Promise.withResolvers<TranscriptionEvent>();
  const recording = model.start({ tenant: 'a' }, (event) => event.isLast && ended.resolve(event));
  recording.write(silence(30));
  recording.cancel();
  recording.cancel();
  t.equal((await ended.promise).error?.code, 'closed');
  t.equal((await kept).all.length, 2);
  t.equal(model.stats().nJobs, 0);
});

t.test('the time limit ends a job', async (t) => {
  await t.rejects(transcribe(model, { timeoutMs: 1 }, speech, speech, speech), { code: 'deadline_exceeded' });
});

t.test('one job more than may be under way is refused', async (t) => {
  const small = await open(t, { nMostJobs: 1 });
  const first = small.start({ tenant: 'a' }, () => undefined);
  t.throws(() => small.start({ tenant: 'b' }, () => undefined), { code: 'queue_full' });
  first.cancel();
});

t.test('a job of another tenant does not wait for a long one', async (t) => {
  const order: string[] = [];
  const long = transcribe(model, { tenant: 'long', skipsSilence: false }, ...Array.from({ length: 10 }, () => silence(30)));
  const short = transcribe(model, { tenant: 'short', skipsSilence: false }, silence(2));
  await Promise.all([long.then(() => order.push('long')), short.then(() => order.push('short'))]);
  t.strictSame(order, ['short', 'long']);
});

t.test('a model that is closed ends its jobs', async (t) => {
  const closing = await open(t);
  const ended = Promise.withResolvers<TranscriptionEvent>();
  const recording = closing.start({ tenant: 'a' }, (event) => event.isLast && ended.resolve(event));
  await closing.close();
  t.equal((await ended.promise).error?.code, 'closed');
  t.equal(recording.write(silence(1)), true, 'what nobody hears is not kept');
  t.throws(() => closing.start({ tenant: 'a' }, () => undefined), { code: 'closed' });
  await closing.close();
});

t.test('a file that is no model is refused', async (t) => {
  const load = (file: string) => SpeechModel.load({ path: file, voicePath, nStates: 1, nThreads: 1, nMostJobs: 1 });
  await t.rejects(load('/nowhere/model.bin'), { code: 'model_not_found' });
  await t.rejects(load(join(INSTALL_ROOT, 'package.json')), { code: 'model_invalid' });
});

/** Voices of files are loaded once for all that share them, and only where the inspection and the memory allow it. */
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { randomVoice } from '../../../../../../models/random/fixture.ts';
import type { SpeakingOptions, Voice } from '../voice.ts';
import { GgufEngine, type InspectVoice } from './gguf-engine.ts';

t.setTimeout(120_000);

const whole = await randomVoice({ ends: true });
const folder = t.testdir({});
copyFileSync(whole.model, join(folder, 'voice.gguf'));
copyFileSync(whole.projector, join(folder, 'mmproj.gguf'));

async function engineWith(inspect?: InspectVoice): Promise<{ engine: GgufEngine; voice: (seed: number) => Promise<Voice> }> {
  const engine = new GgufEngine({ nMostTexts: 4, idleUnloadMs: 0 });
  if (inspect !== undefined) engine.connect(inspect);
  const described = { language: 'en', model: 'voice.gguf', mmproj: 'mmproj.gguf' };
  return {
    engine,
    voice: async (seed) => ({ ...(await engine.describe(folder, { ...described, seed })), id: 'v', name: 'V', language: 'en' }),
  };
}

const options: SpeakingOptions = { speed: 1, signal: new AbortController().signal, tenant: 'a', isBackground: false };

async function nSamplesOf(engine: GgufEngine, voice: Voice, asked = options): Promise<number> {
  let nSamples = 0;
  for await (const { rate, samples } of engine.speak(voice, 'Oh.', asked))
    nSamples += rate === 24_000 ? samples.length : Number.NaN;
  return nSamples;
}

t.test('voices of the same files share one model in memory, also where they begin at once', async (t) => {
  const seen: string[] = [];
  const { engine, voice } = await engineWith(async (model) => {
    seen.push(model);
    return { hostBytes: 1 };
  });
  const voices = await Promise.all([1, 2, 3].map(voice));
  const spoken = await Promise.all(voices.map((each) => nSamplesOf(engine, each)));
  t.ok(
    spoken.every((nSamples) => nSamples > 0 && nSamples % 1920 === 0),
    spoken.join(),
  );
  t.equal(engine.nLoaded, 1);
  t.equal(seen.length, 1, 'it was inspected once');
  const slow = await nSamplesOf(engine, voices[0] as Voice, { ...options, speed: 0.5 });
  t.ok(slow > 1.6 * (spoken[0] ?? 0), `${slow} samples`);
  await engine.close();
  t.equal(engine.nLoaded, 0);
});

t.test('a voice that the inspection refuses, or that is larger than the memory, is not loaded', async (t) => {
  for (const [inspect, code] of [
    [async () => ({ reason: 'it ends the process' }), 'voice_unusable'],
    [async () => ({ hostBytes: 2 ** 60 }), 'out_of_memory'],
  ] as const) {
    const { engine, voice } = await engineWith(inspect);
    await t.rejects(nSamplesOf(engine, await voice(1)), { code });
    t.equal(engine.nLoaded, 0);
  }
});

t.test(
  'a file that is replaced by another one after the voice was chosen is refused, and the voice is tried again',
  async (t) => {
    const { engine, voice } = await engineWith();
    const chosen = await voice(1);
    writeFileSync(join(folder, 'mmproj.gguf'), 'no projector');
    await t.rejects(nSamplesOf(engine, chosen), { code: 'voice_unusable' });
    copyFileSync(whole.projector, join(folder, 'mmproj.gguf'));
    t.ok((await nSamplesOf(engine, chosen)) > 0);
    const over = new AbortController();
    over.abort();
    await t.rejects(nSamplesOf(engine, chosen, { ...options, signal: over.signal }), { name: 'AbortError' });
    await engine.close();
  },
);

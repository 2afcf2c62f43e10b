/** The parts of speaking that need no engine: sentences, rates, slowness, and the list of voices. */
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { randomVoice } from '../../../../../models/random/fixture.ts';
import { GgufEngine } from './gguf/gguf-engine.ts';
import { Resampler } from './resampler.ts';
import { sentencesOf } from './sentences.ts';
import { stretched } from './time-stretch.ts';
import { installedVoice, type Voice, type VoiceEngine } from './voice.ts';
import { VoiceList } from './voice-list.ts';

/** A tone as samples of 16 bits. */
function tone(hertz: number, rate: number, seconds: number): Int16Array {
  return Int16Array.from({ length: Math.round(rate * seconds) }, (_, i) => 10_000 * Math.sin((2 * Math.PI * hertz * i) / rate));
}

/** Times that the samples cross zero upwards. */
function crossings(samples: Int16Array): number {
  let n = 0;
  for (let i = 1; i < samples.length; i++) if ((samples[i - 1] ?? 0) < 0 && (samples[i] ?? 0) >= 0) n++;
  return n;
}

t.test('a text is cut into its sentences, and what nobody can say is left out', async (t) => {
  t.strictSame(sentencesOf('Hello there. How are you? ... Fine!\n\nA heading\n\nThe end'), [
    'Hello there.',
    'How are you? ...',
    'Fine!',
    'A heading',
    'The end',
  ]);
  t.strictSame(sentencesOf('— … !!! \u0007'), []);
  t.strictSame(sentencesOf('今日は。元気ですか？', 'ja'), ['今日は。', '元気ですか？']);
});

t.test('no sentence is long, holds a control character, or loses a letter', async (t) => {
  const text = fc.array(fc.constantFrom('word', 'x'.repeat(900), '. ', ' ', '\n\n', '\0', '\u{1b}[31m', 'ä', '7', '-'), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(text, (parts) => {
      const whole = parts.join('');
      const sentences = sentencesOf(whole);
      const letters = (of: string) => of.replace(/[^\p{L}\p{N}]/gu, '');
      return (
        sentences.every((sentence) => sentence.length <= 400 && !/\p{Cc}/u.test(sentence)) &&
        letters(sentences.join('')) === letters(whole)
      );
    }),
  );
  t.pass();
});

t.test('another rate keeps length and pitch, whatever pieces come', async (t) => {
  for (const from of [8_000, 16_000, 22_050, 24_000, 48_000]) {
    const samples = tone(440, from, 1);
    const resampler = new Resampler(from, 24_000);
    const made: number[] = [];
    for (let at = 0; at < samples.length; at += 777) made.push(...resampler.push(samples.subarray(at, at + 777)));
    made.push(...resampler.end());
    t.ok(Math.abs(made.length - 24_000) <= 1, `${from}: ${made.length} samples`);
    t.ok(Math.abs(crossings(Int16Array.from(made)) - 440) <= 2, `${from} keeps the pitch`);
    const loudest = made.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
    t.ok(loudest > 9_500 && loudest < 10_500, `${from} keeps the level: ${loudest}`);
  }
});

t.test('slower speech has the same pitch', async (t) => {
  const slow = stretched(tone(200, 22_050, 1), 2, 22_050);
  t.ok(Math.abs(slow.length / 22_050 - 2) < 0.05, `${slow.length} samples`);
  t.ok(Math.abs(crossings(slow) / (slow.length / 22_050) - 200) < 6);
});

function engineOf(voices: Pick<Voice, 'id' | 'language'>[], name: VoiceEngine['name']): VoiceEngine {
  const rest = { name: 'N', engine: name, model: 'm', sampleRate: 16_000, license: 'L' } as const;
  return {
    name,
    voices: async () => voices.map((voice) => ({ ...voice, ...rest })),
    describe: async (_folder, described) => installedVoice(engineOf(voices, name), described),
    speak: () => {
      throw new Error('it is not asked to speak');
    },
  };
}

t.test('voices are chosen by name, by language, or by default', async (t) => {
  const flite = engineOf([{ id: 'flite-slt', language: 'en-us' }], 'flite');
  const espeak = engineOf([{ id: 'espeak-de', language: 'de' }], 'espeak-ng');
  const list = new VoiceList({ engines: [flite, espeak], folder: '', defaultVoice: '' });
  const chosen = async (voice: string, language?: string) => {
    const { voice: found, isSubstitute } = await list.choose({ voice, language });
    return `${found.id}${isSubstitute ? ', a substitute' : ''}`;
  };
  t.equal(await chosen('espeak-de'), 'espeak-de');
  t.equal(await chosen(''), 'flite-slt');
  t.equal(await chosen('', 'DE'), 'espeak-de');
  t.equal(await chosen('', 'de-at'), 'espeak-de');
  t.equal(await chosen('', 'en'), 'flite-slt');
  t.equal(await chosen('alloy'), 'flite-slt, a substitute');
  await t.rejects(chosen('nobody'), { code: 'voice_not_found' });
  await t.rejects(chosen('', 'xx'), { code: 'no_voice_for_language' });
  await t.rejects(list.choose({ voice: 'espeak-de', language: undefined, engine: 'flite' }), { code: 'voice_not_found' });
  const none = new VoiceList({ engines: [], folder: '', defaultVoice: '' });
  await t.rejects(none.choose({ voice: '', language: undefined }), { code: 'no_voice' });
});

t.test('a folder describes voices, and says which of its files do not', async (t) => {
  const folder = t.testdir({});
  const write = (name: string, value: unknown) => writeFileSync(join(folder, name), JSON.stringify(value));
  write('anna.json', { engine: 'espeak-ng', model: 'de+f3', language: 'de', name: 'Anna', license: 'GPL-3.0-or-later' });
  write('option.json', { engine: 'espeak-ng', model: '-f/etc/passwd', language: 'de' });
  write('far.json', { engine: 'another', model: 'qwen3-tts', language: 'en' });
  write('heard.json', { engine: 'espeak-ng', model: 'de', language: 'de', sample: 'anna.wav' });
  write('more.json', { engine: 'espeak-ng', model: 'de', language: 'de', ssml: true });
  writeFileSync(join(folder, 'broken.json'), '{');
  mkdirSync(join(folder, 'folder.json'));
  const espeak = engineOf([{ id: 'espeak-de', language: 'de' }], 'espeak-ng');
  const list = new VoiceList({ engines: [espeak], folder, defaultVoice: '' });
  const { voices, faults } = await list.all();
  t.match(voices, [{ id: 'anna', name: 'Anna', model: 'de+f3', language: 'de' }, { id: 'espeak-de' }]);
  t.equal(faults.length, 6);
  t.equal(list.defaultOf(voices)?.id, 'anna');
});

t.test('a voice of GGUF files names files of the folder, and nothing outside', async (t) => {
  const files = await randomVoice();
  const outside = t.testdir({ folder: {} });
  const folder = join(outside, 'folder');
  copyFileSync(files.model, join(folder, 'carla.gguf'));
  copyFileSync(files.projector, join(folder, 'mmproj.gguf'));
  copyFileSync(files.model, join(outside, 'other.gguf'));
  symlinkSync(join(outside, 'other.gguf'), join(folder, 'link.gguf'));
  symlinkSync('carla.gguf', join(folder, 'own.gguf'));
  mkdirSync(join(folder, 'deep.gguf'));
  const carla = { engine: 'gguf', model: 'carla.gguf', mmproj: 'mmproj.gguf', language: 'en-GB', license: 'CC-BY-4.0' };
  const others: Record<string, object> = {
    above: { ...carla, model: '../other.gguf' },
    absolute: { ...carla, model: join(outside, 'other.gguf') },
    linked: { ...carla, model: 'link.gguf' },
    hidden: { ...carla, mmproj: '.' },
    deep: { ...carla, mmproj: 'deep.gguf' },
    none: { ...carla, sample: 'none.wav' },
    alone: { ...carla, mmproj: undefined },
    swapped: { ...carla, model: 'mmproj.gguf', mmproj: 'carla.gguf' },
    seeded: { ...carla, seed: -1 },
  };
  for (const [name, value] of Object.entries({ carla, within: { ...carla, model: 'own.gguf' }, ...others }))
    writeFileSync(join(folder, `${name}.json`), JSON.stringify(value));
  const gguf = new GgufEngine({ nMostTexts: 4, idleUnloadMs: 0 });
  const { voices, faults } = await new VoiceList({ engines: [gguf], folder, defaultVoice: '' }).all();
  t.match(voices, [
    { id: 'carla', language: 'en-gb', engine: 'gguf', sampleRate: 24_000, license: 'CC-BY-4.0', files: { seed: 1 } },
    { id: 'within' },
  ]);
  t.strictSame(
    faults.map((fault) => fault.split('.json')[0]),
    Object.keys(others).sort(),
  );
  t.notMatch(faults.filter((fault) => !fault.startsWith('absolute')).join(), outside, 'no sentence tells where the folder lies');
});

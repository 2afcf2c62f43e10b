/** Model files of whisper.cpp: sound ones are read, and what would harm upstream's reader is refused before. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { writeScriptedSpeechModel } from '../../../../../../models/random/speech-model.ts';
import { iterations } from '../../../../../../test/test-support/iterations.ts';
import { random } from '../../../../../../test/test-support/seed.ts';
import { readModelFacts } from './model-facts.ts';

const folder = t.testdir();
const sound = join(folder, 'sound.bin');
await writeScriptedSpeechModel(sound, { says: [0, ' x', 1] });
const bytes = readFileSync(sound);

t.test('a sound file says what it is', async (t) => {
  const facts = await readModelFacts(sound);
  t.match(facts, { kind: 'speech', architecture: 'whisper', quantisation: 'f16' });
  t.ok(facts.nParams > 6_000_000);
});

/** Places of the head's numbers: magic, vocabulary, sound context, width, heads, layers, text context, width, heads, layers, mel filters, type. */
const at = (index: number) => index * 4;

t.test('numbers that would harm upstream are refused with their reason', async (t) => {
  const cases: [what: string, change: (file: Buffer) => Buffer, reason: RegExp][] = [
    ['no heads', (file) => set(file, at(4), 0), /heads of 0/],
    ['a width that heads do not divide', (file) => set(file, at(4), 3), /divides a width/],
    ['an unknown vocabulary', (file) => set(file, at(1), 2 ** 31 - 1), /a vocabulary of/],
    ['two widths', (file) => set(file, at(7), 64), /different widths|divides/],
    ['an unknown type', (file) => set(file, at(11), 77), /file type/],
    ['other filters', (file) => set(file, at(12), 81), /mel filters/],
    ['a vocabulary that never ends', (file) => set(file, at(14) + 80 * 201 * 4, 2 ** 31 - 1), /it lists/],
    [
      'the end behind the vocabulary',
      (file) => file.subarray(0, file.indexOf('encoder.positional') - 20),
      /0 of 98 tensors|end of the file/,
    ],
    ['the end in a tensor', (file) => file.subarray(0, file.length - 5), /end of the file/],
    ['five dimensions', (file) => set(file, file.indexOf('encoder.positional') - 20, 5), /dimensions of a tensor/],
    ['a tensor of an unknown type', (file) => set(file, file.indexOf('encoder.positional') - 12, 999), /unknown type/],
    [
      'a voice activity model',
      () => Buffer.concat([bytes.subarray(0, 4), Buffer.from('\n\0\0\0silero-16k'), Buffer.alloc(64)]),
      /voice activity/,
    ],
  ];
  for (const [what, change, reason] of cases) {
    const path = join(folder, 'changed.bin');
    writeFileSync(path, change(Buffer.from(bytes)));
    await t.rejects(readModelFacts(path), { code: 'not_a_model', message: reason }, what);
  }
});

function set(file: Buffer, offset: number, value: number): Buffer {
  file.writeInt32LE(value, offset);
  return file;
}

t.test('bytes that are changed anywhere are read or refused, and nothing else', async (t) => {
  const path = join(folder, 'changed.bin');
  const nFiles = iterations(15, 300, 'SVC_CRAFTED_MODELS');
  for (let i = 0; i < nFiles; i++) {
    const file = Buffer.from(bytes);
    for (let n = 0; n < 4; n++) file[random.integer(2_000)] = random.integer(256);
    writeFileSync(path, file);
    await readModelFacts(path).catch((error: { code?: string }) => t.equal(error.code, 'not_a_model'));
  }
});

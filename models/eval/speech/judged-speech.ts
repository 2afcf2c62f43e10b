/** Pocketsphinx, which shares nothing with our engines, hears flite's voices; and how soon they begin. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { wordErrors } from '../../../ts/cli/word-errors.ts';
import { decodeSamples } from '../../../ts/server/domains/inference/media/decoding/sound-samples.ts';
import { type Figure, shareFigure } from '../figure.ts';
import { NotToBeHad, RATE, writeClip } from './clips.ts';

const MOST_ERRORS = 0.3;
const SOON_MS = 300;
const SOON_GOAL = 0.95;
const MODEL = '/usr/share/pocketsphinx/model/en-us';

/** Throws NotToBeHad where pocketsphinx or flite is not installed. */
export async function measureJudgedSpeech(url: string, folder: string, sentences: readonly string[]): Promise<Figure[]> {
  if (!existsSync(MODEL)) throw new NotToBeHad('pocketsphinx-en-us is not installed');
  const { voices } = (await (await fetch(`${url}/api/v1/tts/voices`)).json()) as { voices: { id: string; engine: string }[] };
  const [voice] = voices.filter(({ engine }) => engine === 'flite');
  if (voice === undefined) throw new NotToBeHad('libflite1 is not installed');
  const spoken = join(folder, 'flite');
  mkdirSync(spoken, { recursive: true });
  const say = (body: object) =>
    fetch(`${url}/api/v1/tts/synthesize`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ voice: voice.id, ...body }),
    });
  let nSoon = 0;
  for (const [i, text] of sentences.entries()) {
    const began = performance.now();
    const streamed = await say({ text, format: 'pcm', stream: 'audio' });
    const reader = streamed.body?.getReader();
    await reader?.read();
    nSoon += Number(performance.now() - began <= SOON_MS);
    while (reader && !(await reader.read()).done);
    const answer = await say({ text, format: 'wav' });
    writeClip(spoken, `${i}`, text, await decodeSamples(Buffer.from(await answer.arrayBuffer()), 'wav', RATE, 600));
  }
  const heard = hear(spoken, sentences.length);
  const errors = sentences.map((text, i) => wordErrors(text, heard[i] ?? ''));
  const nWords = errors.reduce((sum, each) => sum + each.nWords, 0);
  const nErrors = errors.reduce((sum, each) => sum + each.nErrors, 0);
  return [
    shareFigure(`words of ${voice.id} that pocketsphinx hears`, Math.max(0, nWords - nErrors), nWords, 1 - MOST_ERRORS),
    shareFigure(`first audio within ${SOON_MS} ms`, nSoon, sentences.length, SOON_GOAL),
  ];
}

/** One process hears all: its model takes a second to load. */
function hear(folder: string, count: number): string[] {
  const [list, found] = [join(folder, 'list'), join(folder, 'found')];
  writeFileSync(list, Array.from({ length: count }, (_, i) => `${i}\n`).join(''));
  execFileSync(
    'pocketsphinx_batch',
    [
      ['-adcin', 'yes', '-adchdr', '44', '-cepdir', folder, '-cepext', '.wav', '-ctl', list, '-hyp', found],
      ['-hmm', join(MODEL, 'en-us'), '-lm', join(MODEL, 'en-us.lm.bin'), '-dict', join(MODEL, 'cmudict-en-us.dict')],
    ].flat(),
    { stdio: 'ignore' },
  );
  const texts: string[] = [];
  for (const line of readFileSync(found, 'utf8').split('\n')) {
    const [, text = '', index] = /^(.*) \((\d+) -?\d+\)$/.exec(line) ?? [];
    if (index !== undefined) texts[Number(index)] = text;
  }
  return texts;
}

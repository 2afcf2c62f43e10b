/**
 * npm run eval:speech [-- --only same|voice|heard|judged|places --clips N --sentences N]: what is heard and said, beside others. `same`: tokens, times and log
 * probabilities beside whisper-cli's, with a model of random weights; `voice`: voice activity beside its network;
 * `heard`: words of Piper's voice and of people through a real whisper base;
 * `judged`: flite's voices as pocketsphinx hears them; `places`: questions about four recorded talks. What is not to be had here is left out, with
 * the reason. The last line counts the goals.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Figure, figureTable } from '../figure.ts';
import { startModelServer } from '../model-server.ts';
import { NotToBeHad, peopleClips, piperClips, realModel } from './clips.ts';
import { measureFoundPlaces } from './found-places.ts';
import { measureHeardSpeech } from './heard-speech.ts';
import { measureJudgedSpeech } from './judged-speech.ts';
import { measureSameTokens } from './same-tokens.ts';
import { SENTENCES } from './sentences.ts';
import { measureVoiceActivity } from './voice-activity.ts';

const SPEECH = 'whisper-base';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    clips: { type: 'string', default: '20' },
    sentences: { type: 'string', default: '40' },
  },
});

const folder = mkdtempSync(join(tmpdir(), 'svc-eval-speech-'));
const figures: Figure[] = [];
try {
  const people = await peopleClips(join(folder, 'people'));
  await part('same', 'A model of random weights, beside whisper-cli', () =>
    measureSameTokens(folder, Number(values.clips), people),
  );
  await part('voice', 'Voice activity over ten minutes', () => measureVoiceActivity(folder, people));
  await part('heard', 'Whisper base over HTTP', async () => {
    const path = realModel(SPEECH);
    const spoken = await piperClips(join(folder, 'heard'), SENTENCES.slice(0, Number(values.sentences)));
    return await withServer(path, (url) => measureHeardSpeech(url, { model: SPEECH, path }, spoken, people));
  });
  await part('judged', 'Texts that are read aloud', () =>
    withServer(undefined, (url) => measureJudgedSpeech(url, folder, SENTENCES)),
  );
  await part('places', 'A knowledge base over four recordings', () =>
    withServer(realModel(SPEECH), (url) => measureFoundPlaces(url, (sentences) => piperClips(join(folder, 'talks'), sentences))),
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const missed = figures.filter(({ value, goal }) => goal !== undefined && value < goal).length;
console.log(`${figures.filter(({ goal }) => goal !== undefined).length - missed} goals held, ${missed} missed`);
process.exitCode = missed === 0 ? 0 : 1;

async function part(name: string, title: string, measure: () => Promise<Figure[]>): Promise<void> {
  if (values.only !== undefined && values.only !== name) return;
  try {
    const found = await measure();
    figures.push(...found);
    console.log(figureTable(title, found));
  } catch (error) {
    if (!(error instanceof NotToBeHad)) throw error;
    console.log(`${title}: left out, since ${error.message}`);
  }
}

/** With the models that ship, and a speech model of a file. */
async function withServer<Result>(speech: string | undefined, run: (url: string) => Promise<Result>): Promise<Result> {
  const server = await startModelServer(undefined, speech === undefined ? {} : { [`${SPEECH}.bin`]: speech });
  try {
    return await run(server.url);
  } finally {
    await server.stop();
  }
}

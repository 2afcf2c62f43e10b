/** A real speech model over HTTP: how many words it hears wrong, one recording at a time and sixteen at once, and when it says that they are spoken. */
import { readFileSync } from 'node:fs';
import { type WordErrors, wordErrors } from '../../../ts/cli/word-errors.ts';
import { wav } from '../../../ts/server/domains/inference/media/test-support/sounds.ts';
import { SeededRandom } from '../../random/seeded-random.ts';
import { type Figure, shareFigure } from '../figure.ts';
import { type Clip, RATE } from './clips.ts';
import { runWhisperCli } from './whisper-cli.ts';

const AT_ONCE = 16;
const MOST_ERRORS = 0.05;
const NEAR_SECONDS = 0.3;
const NEAR_GOAL = 0.95;

interface Word {
  word: string;
  start: number;
  end: number;
}

interface Heard extends WordErrors {
  text: string;
  words: Word[];
}

export async function measureHeardSpeech(
  url: string,
  { model, path }: { model: string; path: string },
  spoken: readonly Clip[],
  people: readonly Clip[],
): Promise<Figure[]> {
  const hear = async ({ path, text }: Clip): Promise<Heard> => await hearBytes(readFileSync(path), text);
  const hearBytes = async (bytes: Buffer, text: string): Promise<Heard> => {
    const form = new FormData();
    const fields = { model, language: 'en', response_format: 'verbose_json', 'timestamp_granularities[]': 'word' };
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append('file', new Blob([new Uint8Array(bytes)]), 'clip.wav');
    const response = await fetch(`${url}/v1/audio/transcriptions`, { method: 'POST', body: form });
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
    const heard = (await response.json()) as { text: string; words?: Word[] };
    return { text: heard.text, words: heard.words ?? [], ...wordErrors(text, heard.text) };
  };
  const alone: Heard[] = [];
  for (const clip of spoken) alone.push(await hear(clip));
  const ofPeople: Heard[] = [];
  for (const clip of people) ofPeople.push(await hear(clip));
  const beside: Heard[] = [];
  for (let at = 0; at < spoken.length; at += AT_ONCE)
    beside.push(...(await Promise.all(spoken.slice(at, at + AT_ONCE).map(hear))));
  const sounds = wordless();
  let nSilent = 0;
  for (const bytes of sounds) nSilent += Number((await hearBytes(bytes, '')).text === '');
  for (const [i, { nErrors, text }] of [...alone, ...ofPeople].entries())
    if (nErrors > 0) console.log(`${nErrors} wrong: ${[...spoken, ...people][i]?.text} / ${text}`);
  const seconds = people.reduce((sum, clip) => sum + clip.seconds, 0).toFixed(0);
  return [
    rightWords(`words of ${spoken.length} sentences that Piper speaks`, alone),
    rightWords('the same, sixteen at once', beside),
    rightWords(`words of ${seconds} s of people`, ofPeople),
    shareFigure('silence, noise and wordless music without a text', nSilent, sounds.length, 1),
    nearWords(path, spoken, alone),
  ];
}

/** Twenty seconds each. */
function wordless(): Buffer[] {
  const random = new SeededRandom(5);
  const tone = (hertz: number, at: number) => Math.sin((2 * Math.PI * hertz * at) / RATE);
  const [ROOTS, BEAT] = [[220, 196, 174.6, 261.6], RATE / 2];
  const music = (at: number) => {
    const root = ROOTS[Math.floor(at / (4 * BEAT)) % ROOTS.length] ?? 220;
    const fades = Math.exp((-3 * (at % BEAT)) / BEAT);
    const chord = tone(root, at) + tone(root * 1.25, at) + tone(root * 1.5, at) + 0.5 * tone(root * 2, at);
    return (
      fades * (0.15 * chord + 0.1 * tone(root / 4, at)) + 0.1 * Math.exp((-40 * (at % BEAT)) / BEAT) * (2 * random.next() - 1)
    );
  };
  const sounds = [() => 0, () => 0.3 * (2 * random.next() - 1), () => 0.01 * (2 * random.next() - 1), music];
  return sounds.map((sound) =>
    wav(
      Float32Array.from({ length: 20 * RATE }, (_, at) => sound(at)),
      RATE,
    ),
  );
}

function rightWords(name: string, heard: readonly WordErrors[]): Figure {
  const nWords = heard.reduce((sum, each) => sum + each.nWords, 0);
  const nErrors = heard.reduce((sum, each) => sum + each.nErrors, 0);
  return shareFigure(name, Math.max(0, nWords - nErrors), nWords, 1 - MOST_ERRORS);
}

/** Where both hear the same words, since only then does each have its partner. */
function nearWords(path: string, clips: readonly Clip[], heard: readonly Heard[]): Figure {
  let nNear = 0;
  let nWords = 0;
  for (const [i, clip] of clips.entries()) {
    const theirs = wordsOf(runWhisperCli(path, clip.path, { language: 'en' }));
    const ours = heard[i]?.words ?? [];
    if (theirs.length !== ours.length) continue;
    nWords += ours.length;
    nNear += ours.filter(({ start, end }, at) => {
      const other = theirs[at];
      return other !== undefined && Math.abs(start - other.start) <= NEAR_SECONDS && Math.abs(end - other.end) <= NEAR_SECONDS;
    }).length;
  }
  return shareFigure(`word times within ${NEAR_SECONDS} s of whisper-cli's`, nNear, nWords, NEAR_GOAL);
}

/** Its tokens begin a word where they begin with a space; marks are in brackets. */
function wordsOf({ segments }: ReturnType<typeof runWhisperCli>): Word[] {
  const words: Word[] = [];
  for (const { text, offsets } of segments.flatMap(({ tokens }) => tokens)) {
    if (offsets === undefined || text.startsWith('[_')) continue;
    const [start, end] = [offsets.from / 1000, offsets.to / 1000];
    const last = words.at(-1);
    if (last === undefined || text.startsWith(' ')) words.push({ word: text, start, end });
    else words[words.length - 1] = { word: last.word + text, start: last.start, end };
  }
  return words;
}

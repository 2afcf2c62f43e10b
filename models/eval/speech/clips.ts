/** Recordings with what is said in them: people, and Piper's voice. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fetchSource, readPins } from '../../../scripts/setup/sources.mjs';
import { interpreterOf, whyNotInstalled } from '../../../test/clients/environment.ts';
import { decodeSamples } from '../../../ts/server/domains/inference/media/decoding/sound-samples.ts';
import { wav } from '../../../ts/server/domains/inference/media/test-support/sounds.ts';

export const RATE = 16_000;

export interface Clip {
  readonly name: string;
  /** A WAV file of one channel, RATE samples a second. */
  readonly path: string;
  readonly seconds: number;
  /** What is said, as it is written. */
  readonly text: string;
}

/** This machine cannot have what a part of the evaluation needs. */
export class NotToBeHad extends Error {}

const tool = join(import.meta.dirname, '../../../../shared/tools/real-models.py');
const testdata = '/usr/share/pocketsphinx/test/data';

/** Codes of the tool: no registry was reached, and what it has is not what was pinned. */
const NOT_SERVED = [3, 4];

/** The path of a real model. Throws NotToBeHad. */
export function realModel(name: string): string {
  if (!existsSync(tool)) throw new NotToBeHad(`${tool} is not here`);
  try {
    const output = execFileSync('python3', [tool, 'get', name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return output.trim().split('\n').at(-1) ?? '';
  } catch (error) {
    const { status } = error as { status?: number | null };
    if (NOT_SERVED.includes(status ?? 0)) throw new NotToBeHad(`${name} is not served (${status})`);
    throw error;
  }
}

/** Writes samples, and says how long they are. */
export function writeClip(folder: string, name: string, text: string, samples: Float32Array): Clip {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${name}.wav`);
  writeFileSync(path, wav(samples, RATE));
  return { name, path, seconds: samples.length / RATE, text };
}

export async function samplesOf(path: string): Promise<Float32Array> {
  return await decodeSamples(readFileSync(path), path.endsWith('.mp3') ? 'mp3' : 'wav', RATE, 600);
}

/** Sentences that Piper's voice reads: one call of the program for all, as it takes a second to start. Throws NotToBeHad. */
export async function piperClips(folder: string, sentences: readonly string[]): Promise<Clip[]> {
  const voice = realModel('piper-joe');
  const python = await interpreterOf(join(import.meta.dirname, 'piper.txt')).catch((error: Error) => {
    throw new NotToBeHad(whyNotInstalled(error));
  });
  const spoken = join(folder, 'piper');
  mkdirSync(spoken, { recursive: true });
  const args = ['-m', 'piper', '-m', voice, '--output-dir', spoken];
  execFileSync(python, args, { input: sentences.join('\n'), stdio: ['pipe', 'pipe', 'pipe'] });
  // Files are named by the time at which they were made.
  const files = readdirSync(spoken)
    .filter((name) => name.endsWith('.wav'))
    .sort((a, b) => a.length - b.length || a.localeCompare(b));
  if (files.length !== sentences.length) throw new Error(`Piper wrote ${files.length} files for ${sentences.length} sentences`);
  const clips: Clip[] = [];
  for (const [i, file] of files.entries()) {
    const own = join(spoken, `of-${i}`);
    renameSync(join(spoken, file), own);
    const samples = await decodeSamples(readFileSync(own), 'wav', RATE, 600);
    clips.push(writeClip(folder, `sentence-${i}`, sentences[i] ?? '', samples));
  }
  return clips;
}

/** Two people, from the sources of whisper.cpp and from Debian's pocketsphinx-testdata where that is installed. */
export async function peopleClips(folder: string): Promise<Clip[]> {
  const pin = readPins()['whisper.cpp'];
  if (!pin) throw new Error('native/sources.json has no whisper.cpp');
  const president = await samplesOf(join(await fetchSource(pin), 'samples', 'jfk.mp3'));
  const asked = 'And so, my fellow Americans, ask not what your country can do for you, ask what you can do for your country.';
  const clips = [writeClip(folder, 'president', asked, president)];
  const book = join(testdata, 'librivox');
  if (!existsSync(book)) return clips;
  for (const line of readFileSync(join(book, 'transcription'), 'utf8').trim().split('\n')) {
    const [, text = '', name = ''] = /^<s> (.*) <\/s> \((.*)\)$/.exec(line) ?? [];
    // The reader says "a more amiable", once: the text that came with it has a word twice.
    const said = text.replace('mister', 'Mr.').replace('a more a amiable', 'a more amiable');
    clips.push(writeClip(folder, name, said, await samplesOf(join(book, `${name}.wav`))));
  }
  return clips;
}

/** The first sentences with a rest between them, and where each begins and ends. */
export async function joined(clips: readonly Clip[], restSeconds: number) {
  const places: { begin: number; end: number }[] = [];
  const pieces: Float32Array[] = [];
  let at = 0;
  for (const { path } of clips) {
    const samples = await samplesOf(path);
    places.push({ begin: at / RATE, end: (at + samples.length) / RATE });
    const rest = new Float32Array(restSeconds * RATE);
    pieces.push(samples, rest);
    at += samples.length + rest.length;
  }
  const whole = new Float32Array(at);
  let filled = 0;
  for (const piece of pieces) {
    whole.set(piece, filled);
    filled += piece.length;
  }
  return { samples: whole, places };
}

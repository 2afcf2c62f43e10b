/** Text files of words that are drawn by a seed, as often as they stand in our own documents. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SeededRandom } from '../../models/random/seeded-random.ts';
import type { IngestLoad } from './ingest-load.ts';

const FILES_A_FOLDER = 200;
const KIB = 1024;
const SOURCES = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md'];
const root = join(import.meta.dirname, '../..');

export interface MadeFiles {
  readonly folder: string;
  readonly paths: readonly string[];
  readonly sizeBytes: number;
  /** What can be asked: words that stand in the files. */
  readonly questions: readonly string[];
}

export async function makeFiles(folder: string, { nFiles, leastKib, mostKib }: IngestLoad, seed: number): Promise<MadeFiles> {
  const random = new SeededRandom(seed);
  const words = await readWords();
  const paths: string[] = [];
  let sizeBytes = 0;
  for (let i = 0; i < nFiles; i++) {
    const below = join(folder, String(Math.floor(i / FILES_A_FOLDER)));
    if (i % FILES_A_FOLDER === 0) await mkdir(below, { recursive: true });
    const size = leastKib * KIB * (mostKib / leastKib) ** random.next();
    const text = textOf(random, words, size);
    const path = join(below, `file-${i}.md`);
    await writeFile(path, text);
    paths.push(path);
    sizeBytes += text.length;
  }
  const questions = Array.from({ length: 200 }, () => sentenceOf(random, words, 7));
  return { folder, paths, sizeBytes, questions };
}

function textOf(random: SeededRandom, words: readonly string[], size: number): string {
  const parts: string[] = [];
  for (let length = 0, n = 1; length < size; n++) {
    const heading = `# ${sentenceOf(random, words, 3)}`;
    const sentences = Array.from({ length: 4 + random.integer(12) }, () => sentenceOf(random, words, 6 + random.integer(14)));
    parts.push(n % 3 === 1 ? `${heading}\n\n${sentences.join(' ')}` : sentences.join(' '));
    length += (parts.at(-1)?.length ?? 0) + 2;
  }
  return parts.join('\n\n').slice(0, Math.max(64, Math.round(size)));
}

export function sentenceOf(random: SeededRandom, words: readonly string[], count: number): string {
  const drawn = Array.from({ length: count }, () => words[random.integer(words.length)] ?? 'word').join(' ');
  return `${drawn.charAt(0).toUpperCase()}${drawn.slice(1)}.`;
}

export async function readWords(): Promise<string[]> {
  const texts = await Promise.all(SOURCES.map((name) => readFile(join(root, name), 'utf8')));
  return texts.join(' ').match(/\p{L}+/gu) ?? [];
}

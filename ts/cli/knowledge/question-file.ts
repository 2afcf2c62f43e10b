/** Files of questions for `svc kb eval` and `svc memory eval`: a JSON array, or an object on each line. */
import { readFile, stat } from 'node:fs/promises';
import { usageError } from '../cli-error.ts';

export interface EvalQuestion {
  readonly question: string;
  /** Documents of which each answers it; empty: no document does. */
  readonly sources: readonly string[];
  /** Pages of the document on which the answer stands; empty: anywhere. */
  readonly pages: readonly number[];
}

const MAX_BYTES = 64 * 1024 * 1024;
const MAX_QUESTIONS = 100_000;
const SHAPE =
  'each question is {"question": "...", "sources": ["handbook.pdf"], "pages": [3]} or {"question": "...", "unanswerable": true}';
const MEMORY_SHAPE =
  'each question is {"question": "...", "memories": ["I live in Berlin"]} or {"question": "...", "never_said": true}';

export interface MemoryQuestion {
  readonly question: string;
  /** Memories of which each answers it, by their texts, a part of these, or their ids; empty: nothing was said of it. */
  readonly memories: readonly string[];
}

/** Throws CliError that names the line or the place in the array. */
export async function readQuestions(path: string): Promise<EvalQuestion[]> {
  return await readFileOf(path, SHAPE, ({ sources, source, pages, page, unanswerable }, question, wrong) => {
    const named = listOf(sources ?? source);
    const onPages = listOf(pages ?? page);
    if (!named.every(isText)) throw wrong('sources must be texts');
    if (!onPages.every((each) => Number.isSafeInteger(each) && Number(each) > 0)) throw wrong('pages must be numbers from 1');
    if ((named.length === 0) !== (unanswerable === true)) throw wrong('it needs either sources, or unanswerable: true');
    if (onPages.length > 0 && named.length !== 1) throw wrong('pages need one source');
    return { question, sources: named, pages: onPages as number[] };
  });
}

/** Throws as readQuestions does. */
export async function readMemoryQuestions(path: string): Promise<MemoryQuestion[]> {
  return await readFileOf(path, MEMORY_SHAPE, ({ memories, memory, never_said: isNeverSaid }, question, wrong) => {
    const named = listOf(memories ?? memory);
    if (!named.every(isText)) throw wrong('memories must be texts');
    if ((named.length === 0) !== (isNeverSaid === true)) throw wrong('it needs either memories, or never_said: true');
    return { question, memories: named };
  });
}

type ReadMembers<T> = (members: Record<string, unknown>, question: string, wrong: (what: string) => Error) => T;

async function readFileOf<T>(path: string, shape: string, read: ReadMembers<T>): Promise<T[]> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) throw usageError(`there is no file "${path}"`, 'name a file of questions');
  if (found.size > MAX_BYTES) throw usageError(`${path} has more than ${MAX_BYTES} bytes`, 'split it');
  const questions = entriesOf(await readFile(path, 'utf8'), path, shape).map(([where, value]) => {
    const wrong = (what: string) => usageError(`${where}: ${what}`, shape);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong('it is no object');
    const { question } = value as Record<string, unknown>;
    if (typeof question !== 'string' || question.trim() === '') throw wrong('question is missing');
    return read(value as Record<string, unknown>, question, wrong);
  });
  if (questions.length === 0) throw usageError(`${path} has no questions`, shape);
  if (questions.length > MAX_QUESTIONS) throw usageError(`${path} has more than ${MAX_QUESTIONS} questions`, 'split it');
  return questions;
}

function entriesOf(text: string, path: string, shape: string): [where: string, value: unknown][] {
  const clean = text.replace(/^\ufeff/, '');
  if (clean.trimStart().startsWith('[')) {
    const list = parse(clean, path, shape);
    if (Array.isArray(list)) return list.map((value, i) => [`question ${i + 1} of ${path}`, value]);
  }
  return clean.split('\n').flatMap((line, i) => {
    const where = `line ${i + 1} of ${path}`;
    return line.trim() === '' ? [] : [[where, parse(line, where, shape)] as [string, unknown]];
  });
}

function parse(text: string, where: string, shape: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw usageError(`${where} is no JSON: ${(cause as Error).message}`, shape);
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

function listOf(value: unknown): unknown[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}

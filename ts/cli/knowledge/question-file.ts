/** A file of questions for `svc kb eval`: a JSON array, or an object on each line. */
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

/** Throws CliError that names the line or the place in the array. */
export async function readQuestions(path: string): Promise<EvalQuestion[]> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) throw usageError(`there is no file "${path}"`, 'name a file of questions');
  if (found.size > MAX_BYTES) throw usageError(`${path} has more than ${MAX_BYTES} bytes`, 'split it');
  const questions = entriesOf(await readFile(path, 'utf8'), path).map(([where, value]) => readQuestion(value, where));
  if (questions.length === 0) throw usageError(`${path} has no questions`, SHAPE);
  if (questions.length > MAX_QUESTIONS) throw usageError(`${path} has more than ${MAX_QUESTIONS} questions`, 'split it');
  return questions;
}

function entriesOf(text: string, path: string): [where: string, value: unknown][] {
  const clean = text.replace(/^\ufeff/, '');
  if (clean.trimStart().startsWith('[')) {
    const list = parse(clean, path);
    if (Array.isArray(list)) return list.map((value, i) => [`question ${i + 1} of ${path}`, value]);
  }
  return clean.split('\n').flatMap((line, i) => {
    const where = `line ${i + 1} of ${path}`;
    return line.trim() === '' ? [] : [[where, parse(line, where)] as [string, unknown]];
  });
}

function parse(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw usageError(`${where} is no JSON: ${(cause as Error).message}`, SHAPE);
  }
}

function readQuestion(value: unknown, where: string): EvalQuestion {
  const wrong = (what: string) => usageError(`${where}: ${what}`, SHAPE);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong('it is no object');
  const { question, sources, source, pages, page, unanswerable } = value as Record<string, unknown>;
  if (typeof question !== 'string' || question.trim() === '') throw wrong('question is missing');
  const named = listOf(sources ?? source);
  const onPages = listOf(pages ?? page);
  if (!named.every((each) => typeof each === 'string' && each !== '')) throw wrong('sources must be texts');
  if (!onPages.every((each) => Number.isSafeInteger(each) && Number(each) > 0)) throw wrong('pages must be numbers from 1');
  if ((named.length === 0) !== (unanswerable === true)) throw wrong('it needs either sources, or unanswerable: true');
  if (onPages.length > 0 && named.length !== 1) throw wrong('pages need one source');
  return { question, sources: named as string[], pages: onPages as number[] };
}

function listOf(value: unknown): unknown[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}

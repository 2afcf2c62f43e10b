/** JSON: a line for each value with its path, so that a passage from the middle says what it is about; lists of flat records as tables. */
import type { BlockList } from '../block-list.ts';
import { ExtractionRefusal } from '../extraction-refusal.ts';
import { TableRows } from '../table-rows.ts';
import { readLines } from './line-block.ts';

const LINES_A_BLOCK = 20;
const MAX_DEPTH = 200;
const MAX_PATH_LENGTH = 300;

/** Undefined: the text is no JSON. Takes lines of JSON values as one list too. */
export function parseJson(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return parseJsonLines(text);
  }
}

function parseJsonLines(text: string): { value: unknown } | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length < 2) return undefined;
  try {
    return { value: lines.map((line) => JSON.parse(line) as unknown) };
  } catch {
    return undefined;
  }
}

export class JsonReader {
  readonly #blocks: BlockList;
  #lines: string[] = [];

  constructor(blocks: BlockList) {
    this.#blocks = blocks;
  }

  /** @param text is kept as it is where it is no JSON after all. */
  read(text: string): void {
    const parsed = parseJson(text);
    if (parsed === undefined) readLines(text, this.#blocks);
    else this.#visit(parsed.value, '', 0);
    this.#flush();
  }

  #visit(value: unknown, path: string, depth: number): void {
    if (depth > MAX_DEPTH) throw new ExtractionRefusal('too_deeply_nested', `The JSON is nested more than ${MAX_DEPTH} levels.`);
    if (typeof value !== 'object' || value === null) this.#line(path, value);
    else if (Array.isArray(value) && value.length > 1 && value.every(isFlatRecord)) this.#table(value, path);
    else this.#members(value, path, depth);
  }

  #members(value: object, path: string, depth: number): void {
    const isList = Array.isArray(value);
    for (const [key, member] of Object.entries(value)) {
      const next = isList ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
      this.#visit(member, next.slice(-MAX_PATH_LENGTH), depth + 1);
    }
  }

  #line(path: string, value: unknown): void {
    this.#lines.push(path === '' ? String(value) : `${path}: ${String(value)}`);
    if (this.#lines.length >= LINES_A_BLOCK) this.#flush();
  }

  #table(records: readonly Record<string, unknown>[], path: string): void {
    this.#flush();
    if (path !== '') this.#blocks.heading(path, 3);
    const table = new TableRows(this.#blocks);
    for (const record of records) {
      const cells = Object.entries(record).map(([key, value]) => `${key}: ${String(value)}`);
      table.add([cells.join('; ')]);
    }
    table.end();
  }

  #flush(): void {
    if (this.#lines.length > 0) this.#blocks.code(this.#lines.join('\n'));
    this.#lines = [];
  }
}

function isFlatRecord(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((member) => typeof member !== 'object' || member === null);
}

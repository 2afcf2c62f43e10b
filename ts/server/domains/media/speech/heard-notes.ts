/**
 * Notes of what was heard of a recording so far, a line for each window, in a file: work that was interrupted goes on behind the last window, and a recording
 * that a model has heard is not heard again by it.
 */
import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import Type, { type Static } from 'typebox';
import { SchemaCheck } from '../../../platform/schema/schema-check.ts';

export interface SaidPiece {
  text: string;
  /** Seconds from the beginning. */
  begin: number;
  end: number;
}

const Line = Type.Object({
  done: Type.Number({ minimum: 0 }),
  language: Type.String(),
  is_last: Type.Boolean(),
  said: Type.Array(Type.Object({ text: Type.String(), begin: Type.Number(), end: Type.Number() })),
});
const check = new SchemaCheck(Line);

export class HeardNotes {
  readonly said: SaidPiece[] = [];
  doneSeconds = 0;
  /** Empty until it is known. */
  language = '';
  isWhole = false;
  readonly #file: FileHandle;
  #written: Promise<unknown> = Promise.resolve();

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** @param model names the model and its file: another one hears something else. */
  static async open(folder: string, model: string): Promise<HeardNotes> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const name = `${createHash('sha256').update(model).digest('hex').slice(0, 32)}.heard`;
    const file = await open(join(folder, name), 'a+', 0o600);
    const notes = new HeardNotes(file);
    await notes.#read();
    return notes;
  }

  add(said: readonly SaidPiece[], doneSeconds: number, language: string): void {
    this.#take({ done: doneSeconds, language, is_last: false, said: said.map(({ text, begin, end }) => ({ text, begin, end })) });
  }

  end(doneSeconds: number): void {
    this.#take({ done: doneSeconds, language: this.language, is_last: true, said: [] });
  }

  /** Waits for what was added. Throws the error of the disk. */
  async close(): Promise<void> {
    try {
      await this.#written;
    } finally {
      await this.#file.close();
    }
  }

  #take(line: Static<typeof Line>): void {
    this.#learn(line);
    this.#written = this.#written.then(() => this.#file.appendFile(`${JSON.stringify(line)}\n`));
    // close() tells of it.
    this.#written.catch(() => undefined);
  }

  #learn({ said, done, language, is_last: isLast }: Static<typeof Line>): void {
    this.said.push(...said);
    this.doneSeconds = done;
    this.language = language;
    this.isWhole = isLast;
  }

  /** A process that is killed may leave half a line, which is cut off with all behind it. */
  async #read(): Promise<void> {
    const text = await this.#file.readFile('utf8');
    let end = 0;
    for (const line of text.split('\n').slice(0, -1)) {
      const value = parse(line);
      if (value === undefined) break;
      this.#learn(value);
      end += Buffer.byteLength(line) + 1;
    }
    await this.#file.truncate(end);
  }
}

function parse(line: string): Static<typeof Line> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return check.findFault(value, 'a line') === undefined ? (value as Static<typeof Line>) : undefined;
  } catch {
    return undefined;
  }
}

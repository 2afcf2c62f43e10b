/**
 * Runs programs that models and callers wrote, in a process that the server confines (ts/server/native/confined-process.ts). Reads tasks as lines of
 * JSON and answers each with lines: `{output}` while it runs, `{artifact}`, and `{done: true, result?, error?}`. With a folder of Pyodide as its argument
 * it runs Python, task after task with one state; without one JavaScript, once.
 */
import { Console } from 'node:console';
import { readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';

interface CodeFile {
  readonly name: string;
  readonly base64: string;
}

interface CodeTask {
  readonly code: string;
  readonly files: readonly CodeFile[];
}

interface CodeEnd {
  readonly result?: string | undefined;
  readonly error?: string | undefined;
}

type Run = (task: CodeTask) => Promise<CodeEnd>;

/** The members of Pyodide that are used here. */
interface Pyodide {
  readonly FS: { writeFile(path: string, bytes: Uint8Array): void };
  readonly globals: { set(name: string, value: unknown): void };
  setStdout(options: { write(bytes: Uint8Array): number }): void;
  setStderr(options: { write(bytes: Uint8Array): number }): void;
  runPythonAsync(code: string): Promise<unknown>;
  runPython(code: string): unknown;
}

const MAX_LINE_CHARACTERS = 64 * 1024;
/** Anything that a program prints beyond is left out. */
const MAX_OUTPUT_CHARACTERS = 1024 * 1024;
const MAX_RESULT_CHARACTERS = 256 * 1024;

// Later code may put other functions into the place of Node's.
const [write, read, stringify] = [writeSync, readSync, JSON.stringify];
let nPrinted = 0;
let rest: Buffer = Buffer.alloc(0);

function say(message: object): void {
  const bytes = Buffer.from(`${stringify(message)}\n`);
  for (let at = 0; at < bytes.length; ) at += write(1, bytes, at, bytes.length - at);
}

function print(text: string): void {
  const left = MAX_OUTPUT_CHARACTERS - nPrinted;
  const printed = text.slice(0, Math.max(0, left));
  nPrinted += printed.length;
  for (let at = 0; at < printed.length; at += MAX_LINE_CHARACTERS) say({ output: printed.slice(at, at + MAX_LINE_CHARACTERS) });
}

function keep(title: unknown, content: unknown, kind: unknown = 'markdown'): void {
  say({ artifact: { title: String(title), content: String(content), kind: String(kind) } });
}

/** Undefined at the end of the input. */
function readTask(): CodeTask | undefined {
  const pieces = [rest];
  for (let end = rest.indexOf(10); ; ) {
    if (end >= 0) {
      const last = pieces.pop() as Buffer;
      rest = last.subarray(end + 1);
      return JSON.parse(Buffer.concat([...pieces, last.subarray(0, end)]).toString()) as CodeTask;
    }
    const piece = Buffer.alloc(64 * 1024);
    const n = read(0, piece, 0, piece.length, null);
    if (n === 0) return undefined;
    pieces.push(piece.subarray(0, n));
    end = (pieces.at(-1) as Buffer).indexOf(10);
  }
}

function errorText(error: unknown): string {
  const text = error instanceof Error ? (error.stack ?? error.message) : inspect(error);
  return text.slice(0, MAX_RESULT_CHARACTERS);
}

function openJavaScript(): Run {
  const printing = new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      print(String(chunk));
      done();
    },
  });
  for (const name of ['stdout', 'stderr']) Object.defineProperty(process, name, { value: printing });
  globalThis.console = new Console({ stdout: printing, stderr: printing });
  const AsyncFunction = (async () => {}).constructor as new (...parts: string[]) => (...given: unknown[]) => Promise<unknown>;
  return async ({ code, files }) => {
    const given = Object.fromEntries(files.map(({ name, base64 }) => [name, Buffer.from(base64, 'base64')]));
    const value = await new AsyncFunction('files', 'artifact', code)(given, keep);
    return { result: value === undefined ? undefined : textOf(value) };
  };
}

function textOf(value: unknown): string {
  return (typeof value === 'string' ? value : inspect(value, { depth: 6, maxArrayLength: 1_000 })).slice(
    0,
    MAX_RESULT_CHARACTERS,
  );
}

async function openPython(folder: string): Promise<Run> {
  const { loadPyodide } = (await import(pathToFileURL(join(folder, 'pyodide.mjs')).href)) as {
    loadPyodide(options: object): Promise<Pyodide>;
  };
  const python = await loadPyodide({ indexURL: `${folder}/`, env: { HOME: '/home/pyodide' }, stdin: () => null });
  const decoder = new TextDecoder();
  const printing = {
    write: (bytes: Uint8Array): number => {
      print(decoder.decode(bytes, { stream: true }));
      return bytes.length;
    },
  };
  python.setStdout(printing);
  python.setStderr(printing);
  python.globals.set('_keep_artifact', keep);
  python.runPython('def artifact(title, content, kind="markdown"):\n    _keep_artifact(title, content, kind)\n');
  return async ({ code, files }) => {
    for (const { name, base64 } of files) python.FS.writeFile(name, Buffer.from(base64, 'base64'));
    python.globals.set('_value', await python.runPythonAsync(code));
    const result = python.runPython('None if _value is None else repr(_value)') as string | undefined | null;
    python.runPython('import sys; sys.stdout.flush(); sys.stderr.flush()');
    return { result: result?.slice(0, MAX_RESULT_CHARACTERS) };
  };
}

const folder = process.argv[2];
const run = folder === undefined ? openJavaScript() : await openPython(folder);
say({ ready: true });
process.on('uncaughtException', (error) => {
  say({ done: true, error: errorText(error) });
  process.exit();
});
for (let task = readTask(); task !== undefined; task = readTask()) {
  nPrinted = 0;
  const end = await run(task).catch((error: unknown): CodeEnd => ({ error: errorText(error) }));
  say({ done: true, ...end });
}
process.exit();

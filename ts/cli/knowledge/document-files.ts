/** Files and folders to a list of documents, as `svc kb add` takes them. */
import { readdir, stat } from 'node:fs/promises';
import { basename, extname, join, relative, resolve, sep } from 'node:path';
import { usageError } from '../cli-error.ts';

export interface DocumentFile {
  readonly path: string;
  /** What the server calls it: the path from the working directory, with slashes. */
  readonly source: string;
  readonly sizeBytes: number;
  /** It was named itself, and not found in a folder. */
  readonly isNamed: boolean;
}

/** Endings of files that are text as they stand. */
const TEXT_ENDINGS = new Set(
  (
    '.txt .md .markdown .mdx .rst .adoc .org .tex .json .jsonl .yaml .yml .toml .ini .conf .cfg .csv .tsv .sql .log .xml .srt .vtt ' +
    '.ts .tsx .js .mjs .cjs .jsx .py .rb .go .rs .java .kt .c .h .cc .cpp .hpp .cs .swift .php .sh .ps1 .lua .r .scala .css'
  ).split(' '),
);
/** The server extracts the text of these files, or refuses them with what to do. */
const DOCUMENT_ENDINGS = new Set('.pdf .docx .xlsx .pptx .odt .ods .odp .epub .html .htm .eml .rtf .doc .xls .ppt'.split(' '));
const SKIPPED_FOLDERS = new Set(['node_modules', '__pycache__']);

interface FoundFiles {
  readonly files: readonly DocumentFile[];
  /** Files that are left out, each with the reason. */
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
}

/** Folders are searched through, without hidden ones; links are not followed. Throws CliError for a path that is not there. */
export async function findDocumentFiles(paths: readonly string[], workingDirectory: string): Promise<FoundFiles> {
  const files = new Map<string, DocumentFile>();
  const skipped: { path: string; reason: string }[] = [];
  for (const given of paths) {
    const root = resolve(workingDirectory, given);
    for await (const path of filesBelow(root, given)) {
      const { size } = await stat(path);
      const isNamed = path === root;
      const reason = refusalOf(path, size, isNamed);
      if (reason !== undefined) skipped.push({ path, reason });
      else files.set(path, { path, source: sourceOf(path, root, workingDirectory), sizeBytes: size, isNamed });
    }
  }
  return { files: [...files.values()].sort((a, b) => (a.source < b.source ? -1 : 1)), skipped };
}

async function* filesBelow(path: string, given: string): AsyncGenerator<string> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw usageError(`there is no file or folder "${given}"`, 'check the path');
  if (found.isFile()) return yield path;
  if (!found.isDirectory()) return;
  yield* filesIn(path);
}

async function* filesIn(folder: string): AsyncGenerator<string> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.name.startsWith('.')) continue;
    const path = join(folder, entry.name);
    if (entry.isFile()) yield path;
    else if (entry.isDirectory() && !SKIPPED_FOLDERS.has(entry.name)) yield* filesIn(path);
  }
}

/** A file in a folder is taken where its name says that it is a document; one that is named itself is sent whatever it is called. */
function refusalOf(path: string, sizeBytes: number, isNamed: boolean): string | undefined {
  if (sizeBytes === 0) return 'it is empty';
  const ending = extname(path).toLowerCase();
  if (isNamed || TEXT_ENDINGS.has(ending) || DOCUMENT_ENDINGS.has(ending)) return undefined;
  if (/^(readme|license|changelog|makefile|dockerfile)$/i.test(basename(path))) return undefined;
  return ending === ''
    ? 'it has no ending that says what it is; name it itself to send it'
    : `${ending} is no document; name it itself to send it`;
}

/** A file outside of the working directory is named from the folder that was given. */
function sourceOf(path: string, root: string, workingDirectory: string): string {
  const fromHere = relative(workingDirectory, path);
  const isOutside = fromHere.startsWith('..') || resolve(fromHere) === fromHere;
  const name = isOutside ? join(basename(root), relative(root, path)) : fromHere;
  return name.split(sep).join('/');
}

/** The tool `code.run`: a program of the model's or the caller's, confined to itself. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import Type from 'typebox';
import { DomainError } from '../../../platform/errors/domain-error.ts';
import { INSTALL_ROOT } from '../../../platform/files/install-root.ts';
import { type Principal, scopeOf } from '../../../platform/http/principal.ts';
import { defineTool, type Tool } from '../../../platform/tools/tool.ts';
import { type ConversationsApi, ownerOf } from '../../conversations/index.ts';
import { type FilesApi, uploaderOf } from '../../files/index.ts';
import { ownerKey } from '../approvals/approvals.ts';
import { edgeError } from '../errors.ts';
import type { CodeTask, KeptText } from './code-process.ts';
import type { CodeRunner } from './code-runner.ts';

interface CodeRunOptions {
  readonly runner: CodeRunner;
  readonly artifacts: ConversationsApi['artifacts'];
  /** Throws where files cannot be read on this node. */
  files(): Pick<FilesApi, 'stored' | 'blobs'>;
  /** The folder of Pyodide. Throws `python_missing`. */
  pythonFolder(): string;
  now(): number;
}

const MAX_CODE_LENGTH = 200_000;
const MAX_FILES = 10;
const MAX_FILE_BYTES = 16 * 1024 * 1024;
const DEFAULT_SECONDS = 30;
const MAX_SECONDS = 120;
/** With the start of an interpreter, and the wait for a place. */
const MAX_CALL_SECONDS = 300;

const Input = Type.Object(
  {
    language: Type.Enum(['javascript', 'python']),
    code: Type.String({ minLength: 1, maxLength: MAX_CODE_LENGTH }),
    files: Type.Optional(
      Type.Array(Type.String({ maxLength: 64, pattern: '^file-[0-9a-f]{32}$' }), {
        maxItems: MAX_FILES,
        description: 'Ids of files of the caller that the program may read.',
      }),
    ),
    timeout_seconds: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_SECONDS, description: `${DEFAULT_SECONDS} if it is left out.` }),
    ),
  },
  { additionalProperties: false },
);

/** Any other kind is kept as code. */
const KINDS = ['html', 'svg', 'markdown', 'mermaid', 'code'] as const;

export function codeRunTool(options: CodeRunOptions): Tool {
  const { runner, pythonFolder } = options;
  return defineTool({
    name: 'code.run',
    description:
      'Run a program without network and disk. JavaScript is the body of an async function: print with console.log or return a value; `files` has the files ' +
      'by name. Python has the standard library, its state stays for the conversation, and files lie in the working folder. `artifact(title, content, kind)` ' +
      'keeps a text (kind: html, svg, markdown, mermaid or code).',
    input: Input,
    effect: 'write',
    scope: 'tools:use',
    maxSeconds: MAX_CALL_SECONDS,
    // Files hold what others wrote; without them, the program says what its caller wrote.
    isUntrusted: (args) => ((args as { files?: readonly string[] }).files ?? []).length > 0,
    run: async ({ caller, conversation, arguments: given }, signal) => {
      const { language, code, files = [], timeout_seconds: seconds = DEFAULT_SECONDS } = given;
      const python = language === 'python' ? pythonFolder() : undefined;
      const task = { code, files: await readFiles(options, caller, files) };
      const keptFor = conversation === undefined ? undefined : `${caller.tenant} ${ownerKey(caller)} ${conversation}`;
      const { tenant } = caller;
      const { output, result, error, kept } = await runner.run({
        tenant,
        keptFor,
        pythonFolder: python,
        task,
        seconds,
        signal,
      });
      signal.throwIfAborted();
      const artifacts = [];
      for (const text of kept) artifacts.push(await keepArtifact(options, caller, text, conversation));
      return { output, ...(result !== undefined && { result }), ...(error !== undefined && { error }), artifacts };
    },
    made: (result) =>
      (result as { readonly artifacts: readonly { readonly id?: string }[] }).artifacts.flatMap(({ id }) => id ?? []),
  });
}

/** The folder of Pyodide that the operator named, or that lies beside the program. Throws `python_missing`. */
export function findPython(named: string): string {
  const folder = named === '' ? join(INSTALL_ROOT, 'node_modules', 'pyodide') : named;
  if (existsSync(join(folder, 'pyodide.mjs'))) return folder;
  throw edgeError(
    'python_missing',
    `No Pyodide lies in ${named === '' ? 'the program’s own node_modules' : 'tools.python_dir'}.`,
  );
}

/** Those of others are not found. */
async function readFiles(options: CodeRunOptions, caller: Principal, ids: readonly string[]): Promise<CodeTask['files']> {
  if (ids.length === 0) return [];
  const { stored, blobs } = options.files();
  const scope = scopeOf(caller);
  const { subject } = uploaderOf(caller);
  const found = [];
  for (const id of ids) {
    const file = await stored.find(scope, id, options.now());
    if (file?.subject !== subject) throw edgeError('invalid_request', `There is no file ${id} of yours.`, { param: 'files' });
    found.push(file);
  }
  const sizeBytes = found.reduce((sum, file) => sum + file.sizeBytes, 0);
  if (sizeBytes > MAX_FILE_BYTES)
    throw edgeError('invalid_request', `The files have ${sizeBytes} bytes together, at most ${MAX_FILE_BYTES}.`, {
      param: 'files',
    });
  return await Promise.all(
    found.map(async ({ fileName, sha256 }) => {
      const bytes = await readFile(await blobs.open(scope, sha256));
      return { name: fileName.replaceAll(/[/\0]/g, '_'), base64: bytes.toString('base64') };
    }),
  );
}

/** A text that cannot be kept says why, and the others are kept all the same. */
async function keepArtifact(
  { artifacts }: CodeRunOptions,
  caller: Principal,
  { title, content, kind }: KeptText,
  conversationId: string | undefined,
): Promise<object> {
  try {
    const known = KINDS.find((each) => each === kind) ?? 'code';
    const texts = { title: title.slice(0, 200) || 'Result', content: content.toWellFormed(), kind: known };
    const { artifact } = await artifacts.create(ownerOf(caller), { ...texts, language: undefined, conversationId });
    return { id: artifact.id, title: texts.title, kind: known };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { title, error: error.message };
  }
}

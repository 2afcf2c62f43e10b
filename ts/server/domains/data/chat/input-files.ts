/** Files whose text goes into a message as it is: stored ones, and those that come with the request. */
import { type Principal, scopeOf } from '../../../platform/http/principal.ts';
import { extractionErrors, type FileReader, type ReadFile } from '../../files/index.ts';
import { knowledgeError } from '../errors.ts';
import type { InputFile, InputFileText } from '../knowledge-context.ts';
import { documentText } from '../openai/document-text.ts';
import type { KnowledgeService } from '../service.ts';
import { stateOf } from '../stored-kinds.ts';
import type { FileService } from '../vector-stores/file-service.ts';

/** Far more than a model's context takes, and little memory. UTF-16 code units. */
const MAX_TEXT = 2_000_000;

interface InputFilesOptions {
  readonly files: FileService;
  readonly reader: FileReader;
  readonly knowledge: Pick<KnowledgeService, 'readText'>;
}

export class InputFiles {
  readonly #options: InputFilesOptions;

  constructor(options: InputFilesOptions) {
    this.#options = options;
  }

  /** Throws KnowledgeError `file_not_found`, `file_elsewhere`, `file_refused` and `invalid_request`. */
  async read(caller: Principal, file: InputFile, signal: AbortSignal): Promise<InputFileText> {
    try {
      return await this.#read(caller, file, signal);
    } catch (error) {
      if (!extractionErrors.has(error)) throw error;
      throw knowledgeError('file_refused', error.message, { extra: { reason: error.code, remedy: error.remedy }, cause: error });
    }
  }

  /** Whether the caller may read a stored file. */
  async reaches(caller: Principal, fileId: string): Promise<boolean> {
    return await this.#options.files.reaches(caller, fileId);
  }

  async #read(caller: Principal, { fileId, fileName, data }: InputFile, signal: AbortSignal): Promise<InputFileText> {
    const { files, reader } = this.#options;
    const scope = scopeOf(caller);
    if (fileId === undefined) {
      const name = fileName ?? 'file';
      return textOf(name, await reader.readBytes(scope, { bytes: data ?? new Uint8Array(), fileName: name }, signal));
    }
    const { file, path } = await files.open(caller, fileId);
    if (path === undefined) return { fileName: file.fileName, text: await this.#storedText(caller, fileId) };
    return textOf(file.fileName, await reader.read(scope, { sha256: file.sha256, fileName: file.fileName }, signal));
  }

  async #storedText(caller: Principal, fileId: string): Promise<string> {
    const { document } = await this.#options.files.placeOf(caller, fileId);
    let text = '';
    for await (const piece of documentText(this.#options.knowledge, caller, document)) {
      text += Buffer.from(piece).toString();
      if (text.length > MAX_TEXT) throw tooLong(document.source);
    }
    return text;
  }
}

function textOf(fileName: string, read: ReadFile): InputFileText {
  if (!('document' in read))
    throw knowledgeError('invalid_request', `${fileName}: ${stateOf(read.storedKind).detail ?? 'The file has no text.'}`, {
      param: 'input',
    });
  const text = read.document.blocks.map((block) => block.text).join('\n\n');
  if (text.length > MAX_TEXT) throw tooLong(fileName);
  return { fileName, text };
}

function tooLong(fileName: string): Error {
  return knowledgeError('invalid_request', `${fileName} has more text than fits into a message; put it into a vector store.`, {
    param: 'input',
  });
}

/** The recording or film of a form: bytes that come with it, or a stored file that it names. */
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import Type from 'typebox';
import { FormFile } from '../../../platform/http/body/body-schema.ts';
import type { Part } from '../../../platform/http/body/multipart.ts';
import type { Principal } from '../../../platform/http/principal.ts';
import type { TenantScope } from '../../../platform/storage/index.ts';
import { mediaError } from '../errors.ts';
import { FormFields, wrong } from './form-fields.ts';

/** Whoever has stored files; main.ts connects it. */
export interface StoredFiles {
  /** Undefined: it has no bytes of its own. Throws `file_not_found` and `file_elsewhere`. */
  find(caller: Principal, fileId: string): Promise<{ sha256: string; path: string } | undefined>;
  /** Throws `file_elsewhere`. */
  open(scope: TenantScope, sha256: string): Promise<string>;
}

export interface GivenFile {
  readonly path: string;
  /** The hash of a stored file. */
  readonly sha256: string | undefined;
  readonly fields: FormFields;
  /** Removes what came with the form; a stored file stays. */
  remove(): Promise<void>;
}

/** The members of a form, or of JSON, that say which file is meant. */
export const fileFields = {
  file: Type.Optional(FormFile),
  file_id: Type.Optional(
    Type.String({ maxLength: 64, pattern: '^[A-Za-z0-9_-]+$', description: 'A stored file (/v1/files), in place of `file`.' }),
  ),
};

/** Routes that hear or watch such a file need this. */
export interface GivenFileDeps {
  /** Recordings and films lie there for as long as they are decoded. */
  folder: string;
  files(): StoredFiles | undefined;
  /** The English names of the languages that speech models know, by their codes. */
  languages(): ReadonlyMap<string, string>;
}

interface FormPlace {
  /** Recordings lie there for as long as they are decoded. */
  folder: string;
  caller: Principal;
  /** Undefined: the form may name none. */
  files: StoredFiles | undefined;
}

/**
 * Reads the whole form: fields may come behind the file, so its bytes are on disk before all is known. What goes wrong leaves nothing there. Throws
 * invalid_request, storage_unavailable, file_not_found, and what reading the form throws.
 */
export async function readGivenFile(body: AsyncIterable<Part>, { folder, caller, files }: FormPlace): Promise<GivenFile> {
  const values = new Map<string, string[]>();
  let arrived: string | undefined;
  const remove = async () => {
    if (arrived !== undefined) await rm(arrived, { force: true });
  };
  try {
    for await (const part of body) {
      if (part.kind === 'field') {
        const given = values.get(part.name);
        if (given === undefined) values.set(part.name, [part.value]);
        else given.push(part.value);
      } else if (part.name !== 'file') throw wrong(part.name, 'The recording has to be the part `file` of the form.');
      else {
        arrived = join(folder, randomUUID());
        await store(part.content, folder, arrived);
      }
    }
    const fileId = files === undefined ? undefined : values.get('file_id')?.at(-1);
    if (files !== undefined) values.delete('file_id');
    const fields = new FormFields(values);
    if (arrived !== undefined && fileId !== undefined)
      throw wrong('file_id', 'The form has both `file` and `file_id`; send one.');
    if (arrived !== undefined) return { path: arrived, sha256: undefined, fields, remove };
    if (fileId === undefined)
      throw wrong('file', files === undefined ? 'The form has no file.' : 'The form has neither `file` nor `file_id`.');
    return { ...(await stored(files, caller, fileId)), fields, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function stored(
  files: StoredFiles | undefined,
  caller: Principal,
  fileId: string,
): Promise<{ sha256: string; path: string }> {
  const found = await files?.find(caller, fileId);
  if (found !== undefined) return found;
  throw mediaError('invalid_media', 'The file is a text, and no recording.', { param: 'file_id' });
}

async function store(content: AsyncIterable<Uint8Array>, folder: string, path: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    await pipeline(content, createWriteStream(path, { mode: 0o600 }));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (!/^(ENOSPC|EDQUOT|EACCES|EROFS|EIO)$/.test(code)) throw error;
    throw mediaError('storage_unavailable', 'The recording cannot be stored for as long as it is decoded.', { cause: error });
  }
}

/** The file that holds the installation's license. */
import { open } from 'node:fs/promises';
import { writeFileAtomically } from '../../platform/files/atomic-file.ts';
import { licenseError } from './errors.ts';
import { MAX_LICENSE_BYTES } from './signed-license.ts';

export class LicenseFile {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Undefined: there is none. Of a longer file only the beginning, which is no license. Throws what the file system says. */
  async read(): Promise<string | undefined> {
    const file = await open(this.#path, 'r').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (file === undefined) return undefined;
    try {
      const bytes = Buffer.alloc(MAX_LICENSE_BYTES);
      const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
      return bytes.subarray(0, bytesRead).toString();
    } finally {
      await file.close();
    }
  }

  /** Throws license_file_unwritable; the file is then what it was. */
  async write(text: string): Promise<void> {
    try {
      await writeFileAtomically(this.#path, text);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw licenseError('license_file_unwritable', `The license could not be written to ${this.#path}: ${reason}.`, { cause });
    }
  }
}

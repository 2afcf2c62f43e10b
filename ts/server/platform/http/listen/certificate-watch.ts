/** Tells when one of two files has changed. Polls, since certificates are often links that are replaced, which file events miss. */
import { stat } from 'node:fs/promises';
import type { CertificateFiles } from './certificate.ts';

export class CertificateWatch {
  readonly #files: CertificateFiles;
  readonly #onChange: () => void | Promise<void>;
  readonly #timer: NodeJS.Timeout;
  #seen: string | undefined;
  #isBusy = false;

  /** The present content of the files counts as seen. */
  constructor(files: CertificateFiles, pollMs: number, onChange: () => void | Promise<void>) {
    this.#files = files;
    this.#onChange = onChange;
    this.#timer = setInterval(() => this.#poll(), pollMs);
    this.#timer.unref();
    this.#poll();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #poll(): void {
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.#compare().finally(() => {
      this.#isBusy = false;
    });
  }

  async #compare(): Promise<void> {
    const now = `${await signature(this.#files.certFile)} ${await signature(this.#files.keyFile)}`;
    const isChanged = this.#seen !== undefined && this.#seen !== now;
    this.#seen = now;
    if (isChanged) await this.#onChange();
  }
}

/** Changes when the file is written or replaced; a missing file has one, too. */
async function signature(path: string): Promise<string> {
  try {
    const { ino, size, mtimeNs } = await stat(path, { bigint: true });
    return `${ino}:${size}:${mtimeNs}`;
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}

/** Where a command writes: results on standard output, everything else on standard error. */
import type { CliError } from './cli-error.ts';
import { type Progress, ProgressBar } from './progress-bar.ts';

export interface OutputStream {
  write(text: string): boolean;
  isTTY?: boolean;
  columns?: number;
}

export class Terminal {
  readonly json: boolean;
  readonly #out: OutputStream;
  readonly #err: OutputStream;

  constructor({ json, out, err }: { json: boolean; out: OutputStream; err: OutputStream }) {
    this.json = json;
    this.#out = out;
    this.#err = err;
  }

  get isInteractive(): boolean {
    return this.#out.isTTY === true;
  }

  /** The result, once: as JSON or as text for people. */
  result(value: unknown, text: string): void {
    this.#out.write(this.json ? `${JSON.stringify(value, null, 2)}\n` : text === '' ? '' : `${text}\n`);
  }

  /** Raw text on standard output, for what streams. */
  write(text: string): void {
    this.#out.write(text);
  }

  /** What a person wants to know meanwhile; programs that read JSON do not. */
  note(text: string): void {
    if (!this.json) this.#err.write(`${text}\n`);
  }

  /** A bar on a terminal, a line now and then in a log, nothing beside JSON. */
  progress(): Progress {
    if (this.json) return { update() {}, end() {} };
    return new ProgressBar(this.#err);
  }

  error(error: CliError): void {
    if (this.json) this.#err.write(`${JSON.stringify(error)}\n`);
    else this.#err.write(`svc: ${error.message}\n     ${error.remedy}\n`);
  }
}

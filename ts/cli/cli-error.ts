import { type ExitName, exitCodes } from './exit-codes.ts';

/** A failure that the person at the terminal can do something about. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exit: ExitName;
  /** Machine-readable; stable. */
  readonly code: string;
  readonly remedy: string;

  constructor(exit: ExitName, code: string, message: string, remedy: string, cause?: unknown) {
    super(message, { cause });
    this.exit = exit;
    this.code = code;
    this.remedy = remedy;
  }

  toJSON(): { error: { code: string; message: string; remedy: string; exit_code: number } } {
    return { error: { code: this.code, message: this.message, remedy: this.remedy, exit_code: exitCodes[this.exit].code } };
  }
}

export function usageError(message: string, remedy: string): CliError {
  return new CliError('usage', 'usage', message, remedy);
}

import type { Refusal } from '../client/refusal.ts';
import { type ExitName, exitCodes } from './exit-codes.ts';
import { printable } from './format.ts';

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

/** A request that the server refused, with its own sentence, or that no server answered. */
export function refusedError({ status, code, message, cause }: Refusal): CliError {
  if (code === 'late') {
    const remedy = 'see `svc status` for what it works on, then ask again or ask for less';
    return new CliError('failed', 'late', message, remedy, cause);
  }
  if (status === 0) {
    const remedy = 'start it with `svc serve`, or name another server with --url';
    return new CliError('unreachable', 'unreachable', message, remedy, cause);
  }
  const exit = status === 404 ? 'not_found' : status === 409 ? 'conflict' : 'failed';
  const sentence = `the server answers ${status}: ${printable(message || 'no reason given')}`;
  return new CliError(exit, `http_${status}`, sentence, remedyOf(status, code));
}

function remedyOf(status: number, code: string): string {
  if (status === 401)
    return 'give a key with --api-key or SVC_API_KEY, or run this as the user that owns the data folder of the server';
  if (status === 503) return 'ask again in a moment; where it stays so, `svc doctor` says what is wrong';
  if (code === 'model_not_found') return 'run `svc status` for its models';
  return status < 500 && code !== String(status) ? `see \`${code}\` in docs/reference/errors.md` : 'see the log of the server';
}

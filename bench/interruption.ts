/** SIGINT and SIGTERM end a run as a failure does: its programs are killed, and on the way out servers stop and folders go. */
import { constants } from 'node:os';

const controller = new AbortController();

/** Aborted once with an Interrupted. */
export const interruption: AbortSignal = controller.signal;

export class Interrupted extends Error {
  readonly exitCode: number;

  constructor(signal: 'SIGINT' | 'SIGTERM') {
    super(`ended by ${signal}`);
    this.exitCode = 128 + constants.signals[signal];
  }
}

/** A second signal ends the process at once. */
export function heedSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => controller.abort(new Interrupted(signal)));
}

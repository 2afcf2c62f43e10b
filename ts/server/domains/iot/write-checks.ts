/** The checks of interlocks and of the rate, before a value leaves. Pure. */
import type { DomainError } from '../../platform/errors/domain-error.ts';
import { iotError } from './errors.ts';
import type { Value, Variable } from './profile.ts';
import type { Reading } from './readings.ts';
import { isSameValue } from './values.ts';

export const RATE_WINDOW_MS = 60_000;
/** Sums of decimal fractions end a little beside the sum. */
const ROUNDING = 1e-9;

/** Undefined: all hold. What is not known for certain does not. */
export function interlockFault(
  { name, interlocks = [] }: Variable,
  variables: readonly Variable[],
  readingOf: (variable: Variable) => Reading,
): DomainError | undefined {
  for (const { variable: other, equals } of interlocks) {
    const found = variables.find((one) => one.name === other);
    const reading = found === undefined ? undefined : readingOf(found);
    if (found !== undefined && reading?.quality === 'good' && isSameValue(found, equals, reading.value)) continue;
    const state = reading?.quality === 'good' ? `it is ${JSON.stringify(reading.value)}` : `it is ${reading?.quality ?? 'gone'}`;
    return iotError('interlock_open', `${name} is written only while ${other} is ${JSON.stringify(equals)}, and ${state}.`, {
      extra: { interlock: other },
    });
  }
  return undefined;
}

interface Move {
  readonly at: number;
  readonly change: number;
}

/** Undefined: the variable may move so far now. @param moves those of the last minute, oldest first. */
export function rateFault(
  { name, max_change_per_minute: most }: Variable,
  change: number,
  moves: readonly Move[],
  now: number,
): DomainError | undefined {
  if (most === undefined) return undefined;
  const within = moves.filter(({ at }) => at > now - RATE_WINDOW_MS);
  const moved = within.reduce((sum, move) => sum + move.change, 0);
  if (moved + change <= most * (1 + ROUNDING)) return undefined;
  const sentence = `${name} may change by ${most} in a minute, and would by ${Number((moved + change).toPrecision(6))}.`;
  return iotError('write_rate_exceeded', sentence, { retryAfterMs: waitMs(change, most, within, now) });
}

/** Counts until so many of the moves are over that the change fits; for a change that never fits it is a minute. */
function waitMs(change: number, most: number, moves: readonly Move[], now: number): number {
  let left = moves.reduce((sum, move) => sum + move.change, 0);
  for (const move of moves) {
    left -= move.change;
    if (left + change <= most) return Math.max(1, move.at + RATE_WINDOW_MS - now);
  }
  return RATE_WINDOW_MS;
}

/** The distance that a number moves. A variable that is never read has no value to move from, so its first write is no move. */
export function changeOf(before: Value | undefined, value: Value): number {
  return typeof before === 'number' && typeof value === 'number' ? Math.abs(value - before) : 0;
}

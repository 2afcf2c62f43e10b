/** Numbers of the events of a background response. */

/** Numbers that one run of a background response may use: more than tokens fit into a context. */
const NUMBERS_OF_A_RUN = 100_000_000;

/** The events that creation itself writes: response.created and response.queued. */
export const LAST_OF_CREATION = 1;

/**
 * The first event of a run, which counts from 1. A run that is killed may have sent events that were not saved yet, so the next one begins
 * with numbers that the one before cannot have reached.
 */
export function firstSequenceOf(run: number): number {
  return run <= 1 ? LAST_OF_CREATION + 1 : (run - 1) * NUMBERS_OF_A_RUN;
}

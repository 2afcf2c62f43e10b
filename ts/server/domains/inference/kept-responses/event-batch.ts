/** Events of a background response that follow one another, as the client reads them. */
export interface EventBatch {
  /** sequence_number of the first event and of the last one; those between have no gap. */
  first: number;
  last: number;
  /** Server-sent events, each ended by an empty line. */
  frames: string;
}

/** The frames behind the event `after`. */
export function framesAfter({ first, frames }: EventBatch, after: number): string {
  let start = 0;
  // JSON holds no line break as it is, so an empty line is the end of an event.
  for (let sequence = first; sequence <= after && start < frames.length; sequence++) start = frames.indexOf('\n\n', start) + 2;
  return frames.slice(start);
}

/** One batch of several that follow one another; undefined for none. */
export function joinBatches(batches: readonly EventBatch[]): EventBatch | undefined {
  const [first, last] = [batches[0], batches.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  return { first: first.first, last: last.last, frames: batches.map(({ frames }) => frames).join('') };
}

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

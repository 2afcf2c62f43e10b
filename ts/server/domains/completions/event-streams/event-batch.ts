/** Events of one stream that follow one another, as the client reads them. */
export interface EventBatch {
  /** Number of the first event and of the last one; those between have no gap. */
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

/** Index of the first batch with events behind `after`; sought from the end, where it mostly is. */
export function firstBehind(batches: readonly EventBatch[], after: number): number {
  return batches.findLastIndex(({ last }) => last <= after) + 1;
}

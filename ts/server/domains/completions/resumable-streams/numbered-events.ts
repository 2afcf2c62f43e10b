/** Gives each event of some frames its number, as the `id` that clients send back in Last-Event-ID. */
import type { EventBatch } from '../event-streams/event-batch.ts';

const END = '\n\n';

/** `frames` are whole events, at least one, which have no id yet; `first` is the number of the first. */
export function numberedEvents(frames: string, first: number): EventBatch {
  const events = frames.split(END);
  // Behind the last event's end.
  events.pop();
  const numbered = events.map((event, index) => `id: ${first + index}\n${event}${END}`);
  return { first, last: first + events.length - 1, frames: numbered.join('') };
}

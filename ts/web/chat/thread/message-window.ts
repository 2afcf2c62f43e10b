/** Only the messages around what is read are drawn of a long conversation: a window that moves over them. Indices are those of the shown branch. */
export interface MessageWindow {
  first: number;
  /** The index behind the last one. */
  end: number;
}

/** Drawn at first. */
const START = 40;
/** Each step adds so many at one end, and beyond the most takes as many away at the other. */
const STEP = 8;
const MOST = 96;

export function windowAtEnd(count: number): MessageWindow {
  return { first: Math.max(0, count - START), end: count };
}

export function windowAround(index: number, count: number): MessageWindow {
  return { first: Math.max(0, index - START / 2), end: Math.min(count, index + START / 2) };
}

export function earlier({ first, end }: MessageWindow): MessageWindow {
  const from = Math.max(0, first - STEP);
  return { first: from, end: Math.min(end, from + MOST) };
}

export function later({ first, end }: MessageWindow, count: number): MessageWindow {
  const until = Math.min(count, end + STEP);
  return { first: Math.max(first, until - MOST), end: until };
}

/** The branch has another length. A window at its end stays there; a reader at the end has no use for what is far above. */
export function fit({ first, end }: MessageWindow, before: number, count: number, isReadAtEnd: boolean): MessageWindow {
  if (end < before && end <= count) return { first, end };
  const from = Math.min(first, Math.max(0, count - START));
  return { first: isReadAtEnd && count - from > MOST ? count - START : from, end: count };
}

/** Which way the page goes, where a style sheet cannot say it: keys that move along a line, and places that are measured. */
export function isRightToLeft(): boolean {
  return document.documentElement.dir === 'rtl';
}

/** How many things further along a line an arrow key goes: 1, -1, or undefined for any other key. */
export function stepAlong(key: string): 1 | -1 | undefined {
  if (key !== 'ArrowRight' && key !== 'ArrowLeft') return undefined;
  return (key === 'ArrowRight') === isRightToLeft() ? -1 : 1;
}

/** `dir` of a field: the way of what is written in it; of an empty one, whose hint is in the page's language, the way of the page. */
export function directionOf(text: string): 'auto' | undefined {
  return text === '' ? undefined : 'auto';
}

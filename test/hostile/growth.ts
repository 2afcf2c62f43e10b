/** Whether the time that a function takes grows with its text, or with the square of it. */

/** Shorter times are noise. */
const FLOOR_MS = 300;
/** A text of twice the length may take so many times as long: twice, with room for noise and for the garbage collector. */
const MOST_GROWTH = 3.5;
/** A time that looks too long is taken again so often; one that is far too long is not. */
const RETRIES = 3;
const FAR = 4;
/** The first length and how many times as long each further one is: what takes the square of one takes not for ever with the next. */
const FIRST = 64 * 1024;
const STEP = 4;

type TimedRun = (length: number) => Promise<number>;

/**
 * Goes up to the longest text and ends at the first that took too long. Undefined: all is well.
 * @param limitMs for the longest text.
 */
export async function findGrowth(run: TimedRun, longest: number, limitMs: number): Promise<string | undefined> {
  for (let length = Math.min(FIRST, longest); length <= longest; length *= STEP) {
    let ms = await run(length);
    if (ms <= FLOOR_MS) continue;
    let half = await run(length / 2);
    const isSlow = () => ms > limitMs || (ms > FLOOR_MS && ms > MOST_GROWTH * half);
    for (let i = 0; i < RETRIES && isSlow() && ms < FAR * limitMs; i++) {
      ms = Math.min(ms, await run(length));
      half = Math.max(half, await run(length / 2));
    }
    if (isSlow()) return `${Math.round(ms)} ms for ${length} characters, ${Math.round(half)} ms for half of them`;
  }
  return undefined;
}

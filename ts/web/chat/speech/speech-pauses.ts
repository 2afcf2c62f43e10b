/** Finds where a speaker pauses, by the level of the sound: what was said until then becomes text while the next words are spoken. */

const PAUSE_MS = 700;
/** Whoever makes no pause is cut off in the middle of a word; a piece without speech is thrown away. */
const LONGEST_MS = 20_000;
/** Full scale is 1. Below this nobody speaks into a microphone. */
const LEAST_LEVEL = 0.01;
/** Speech is so much louder than the noise around it. */
const OVER_NOISE = 2.5;
/** The noise may become louder by so much with each level. */
const NOISE_GROWS = 1.01;

export class SpeechPauses {
  #noise = Number.POSITIVE_INFINITY;
  #hasSpeech = false;
  #beganAt: number | undefined;
  #spokeAt = 0;

  /** Undefined: the piece goes on. `send`: it ends here, and has speech in it. `drop`: it ends here, and has none. */
  push(level: number, nowMs: number): 'send' | 'drop' | undefined {
    this.#beganAt ??= nowMs;
    this.#noise = Math.min(level, this.#noise * NOISE_GROWS + 1e-6);
    if (level > Math.max(LEAST_LEVEL, this.#noise * OVER_NOISE)) {
      this.#hasSpeech = true;
      this.#spokeAt = nowMs;
    }
    const isPaused = this.#hasSpeech && nowMs - this.#spokeAt >= PAUSE_MS;
    return isPaused || nowMs - this.#beganAt >= LONGEST_MS ? this.end(nowMs) : undefined;
  }

  /** Begins the next piece; tells what becomes of the one that ends. */
  end(nowMs: number): 'send' | 'drop' {
    const fate = this.#hasSpeech ? 'send' : 'drop';
    this.#hasSpeech = false;
    this.#beganAt = nowMs;
    return fate;
  }
}

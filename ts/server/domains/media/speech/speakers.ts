/** Tells two speakers apart: by the turns that a model marks, otherwise by the channel that is louder, where each speaker has one. */
import { mediaError } from '../errors.ts';
import { SOUND_RATE } from '../sound/sound-reader.ts';

/** Samples of both channels whose energies are kept as one: a tenth of a second. */
const STEP = SOUND_RATE / 10;

export class ChannelSpeakers {
  /** Energies of left and right in turn, by steps. */
  readonly #energies: number[] = [];
  #nSamples = 0;
  #areEqual = true;

  /** Notes the energies of samples of left and right in turn; the mean of both is what the model hears. */
  mix(samples: Float32Array): Float32Array {
    const mixed = new Float32Array(samples.length / 2);
    for (let i = 0; i < mixed.length; i++) {
      const left = samples[2 * i] as number;
      const right = samples[2 * i + 1] as number;
      mixed[i] = (left + right) / 2;
      if (left !== right) this.#areEqual = false;
      const at = 2 * Math.floor(this.#nSamples++ / STEP);
      this.#energies[at] = (this.#energies[at] ?? 0) + left * left;
      this.#energies[at + 1] = (this.#energies[at + 1] ?? 0) + right * right;
    }
    return mixed;
  }

  /** `A` is on the left. Times are seconds. */
  speakerOf(begin: number, end: number): 'A' | 'B' {
    const [from, to] = [Math.floor(begin * 10), Math.max(Math.floor(begin * 10) + 1, Math.ceil(end * 10))];
    let difference = 0;
    for (let step = from; step < to; step++) difference += (this.#energies[2 * step] ?? 0) - (this.#energies[2 * step + 1] ?? 0);
    return difference >= 0 ? 'A' : 'B';
  }

  /** Throws diarization_unavailable for two channels that are one. */
  requireTwo(): void {
    if (this.#areEqual) throw oneChannel();
  }
}

/**
 * Says by its name whether a model marks turns: files of tinydiarize (`small.en-tdrz`) differ from others in their names alone.
 * Source: whisper.cpp, tinydiarize.
 */
export function marksTurns(model: string): boolean {
  return /(^|[-._])tdrz($|[-._])/i.test(model);
}

/** Each mark of a turn is the other speaker's. */
export class TurnSpeakers {
  #isSecond = false;

  speakerOf(endsTurn: boolean): 'A' | 'B' {
    const speaker = this.#isSecond ? 'B' : 'A';
    if (endsTurn) this.#isSecond = !this.#isSecond;
    return speaker;
  }
}

export function oneChannel(): Error {
  const sentence = 'The recording has one channel and the model marks no turns, so its speakers cannot be told apart.';
  return mediaError('diarization_unavailable', sentence, { param: 'diarize' });
}

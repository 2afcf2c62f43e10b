/** Who answers from documents: the model, from the passages, or the documents themselves, by quotations alone. */
import type { AnsweringModel } from './knowledge-context.ts';

export type AnswersSetting = 'auto' | 'quotes' | 'model';
/** What follows the sentence that nothing was found. */
export type Fallback = 'none' | 'model';

/** Smaller models contradict the passages that they are given more often than they answer from them. */
const LEAST_PARAMETERS = 1_000_000_000;

export class Speaker {
  readonly #setting: AnswersSetting;
  readonly #fallback: Fallback;

  constructor(setting: AnswersSetting, fallback: Fallback) {
    this.#setting = setting;
    this.#fallback = fallback;
  }

  /** True: the evidence is the answer, and the model says no word. */
  isSilent({ demonstration, nParams }: AnsweringModel): boolean {
    if (this.#setting !== 'auto') return this.#setting === 'quotes';
    return demonstration !== undefined || (nParams !== undefined && nParams < LEAST_PARAMETERS);
  }

  /** A model that may not speak about documents may not speak where they say nothing either. */
  isSilentBehindNothing(model: AnsweringModel): boolean {
    return this.#fallback === 'none' || this.isSilent(model);
  }
}

/** Who answers from documents: the model, from the passages, or the documents themselves, by quotations alone. */
import { answersFromDocuments, type ProbedModel } from '../../inference/index.ts';

export type AnswersSetting = 'auto' | 'quotes' | 'model';
/** What follows the sentence that nothing was found. */
type Fallback = 'none' | 'model';

export class Speaker {
  readonly #setting: AnswersSetting;
  readonly #fallback: Fallback;

  constructor(setting: AnswersSetting, fallback: Fallback) {
    this.#setting = setting;
    this.#fallback = fallback;
  }

  /** True: the evidence is the answer, and the model says no word. */
  isSilent(model: ProbedModel): boolean {
    return this.#setting === 'auto' ? !answersFromDocuments(model) : this.#setting === 'quotes';
  }

  /** A model that may not speak about documents may not speak where they say nothing either. */
  isSilentBehindNothing(model: ProbedModel): boolean {
    return this.#fallback === 'none' || this.isSilent(model);
  }
}

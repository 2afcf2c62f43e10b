/** The filters of one answer, of which each choice has its own, and what they found. */
import type { AnswerFilter, CheckedCitations, KnowledgeContext } from '../../data/index.ts';
import type { Choice } from '../answer/answer-collector.ts';

type WholeChoice = Pick<Choice, 'content' | 'toolCalls' | 'finish' | 'stopString'>;

export class AnswerFilters {
  readonly #context: KnowledgeContext;
  readonly #filters: AnswerFilter[] = [];

  constructor(context: KnowledgeContext) {
    this.#context = context;
  }

  get choices(): readonly number[] {
    return Object.keys(this.#filters).map(Number);
  }

  of(choice: number): AnswerFilter {
    const filter = this.#filters[choice] ?? this.#context.newFilter();
    this.#filters[choice] = filter;
    return filter;
  }

  /** Returns the citations in what was passed on of the choice so far. */
  citedBy(choice: number): CheckedCitations {
    return this.#context.citationsOf(this.of(choice));
  }

  /** The text of an answer that is whole. One that only calls tools has none. */
  wholeText(choice: number, { content, toolCalls, ...end }: WholeChoice): string {
    const isCalling = toolCalls.length > 0;
    if (content === '' && isCalling) return '';
    const filter = this.of(choice);
    return filter.push(content) + (!isCalling && endedByItself(end) ? filter.conclude() : filter.end());
  }
}

/** Not cut off by a limit, nor by a string that the client waits for. */
export function endedByItself({ finish, stopString }: Pick<Choice, 'finish' | 'stopString'>): boolean {
  return finish === 'stop' && stopString === '';
}

/** A task of the worker pool: reads one answer of a scientific source. */
import { AnswerFault, type AnswerPage, readAnswer } from '../server/domains/science/answers/read-answer.ts';

interface AnswerInput {
  readonly adapter: Parameters<typeof readAnswer>[0];
  readonly operation: string;
  readonly text: string;
  readonly retrievedAt: Date;
}

export function run({ adapter, operation, text, retrievedAt }: AnswerInput): { page: AnswerPage } | { fault: string } {
  const found = adapter.operations[operation];
  if (found === undefined) throw new Error(`${adapter.id} has no operation ${operation}`);
  try {
    return { page: readAnswer(adapter, found, text, retrievedAt) };
  } catch (error) {
    if (error instanceof AnswerFault) return { fault: error.message };
    throw error;
  }
}

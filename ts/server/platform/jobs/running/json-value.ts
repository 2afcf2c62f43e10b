/** JSON as jobs keep it: of a bounded size, and checked when it is read by a later version of the program. */
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { JobFailedError } from '../job-error.ts';

/** UTF-16 units. What is larger belongs into a table or file of the module's own. */
export const MAX_JSON_LENGTH = 4 * 1024 * 1024;

/** Null for undefined. Throws a JobFailedError for what JSON cannot hold and for what is too large. */
export function jsonOf(what: 'result' | 'step', value: unknown): string | null {
  if (value === undefined) return null;
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined)
    throw new JobFailedError('internal', `The job's ${what} is nothing that JSON can hold.`, 'Report this defect.');
  if (text.length <= MAX_JSON_LENGTH) return text;
  const message = `The job's ${what} has ${text.length} characters of JSON, and ${MAX_JSON_LENGTH} is the most.`;
  throw new JobFailedError(`job_${what}_too_large`, message, 'Give the job less to do at a time.');
}

/** Undefined where nothing was saved. Throws a JobFailedError where another version saved something else. */
export function checkedStep(schema: TSchema | undefined, text: string | null): unknown {
  if (text === null) return undefined;
  const step = JSON.parse(text) as unknown;
  if (schema === undefined || Compile(schema).Check(step)) return step;
  const message = 'Another version of the program saved this job’s last step, and this one cannot go on from it.';
  throw new JobFailedError('step_not_readable', message, 'Enqueue the job again.');
}

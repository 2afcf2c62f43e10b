import type { JobFailure } from '../job.ts';

/** What the tenant learns of a thrown value. Errors of ours have a lowercase code; the text of others may tell what is not the tenant's. */
export function failureOf(error: unknown): JobFailure {
  if (error instanceof Error) {
    const { code, remedy } = error as { code?: unknown; remedy?: unknown };
    if (typeof code === 'string' && /^[a-z][a-z0-9_]*$/.test(code))
      return { code, message: error.message, ...(typeof remedy === 'string' && remedy !== '' && { remedy }) };
  }
  return { code: 'internal', message: 'The job failed unexpectedly.', remedy: 'The log of the node says why.' };
}

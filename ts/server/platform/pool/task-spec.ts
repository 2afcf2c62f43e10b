/** What runs in a worker thread: a file in ts/workers/ that exports `run`, one task each. */

/** A task's function. Its input and output are copied between threads by structured clone, so both are plain data. */
// biome-ignore lint/suspicious/noExplicitAny: a constraint that every function of one argument meets; callers see the exact types.
export type TaskFunction = (input: any) => unknown;

export interface TaskSpec<Run extends TaskFunction> {
  /** Names the task in metrics, log lines and errors. */
  readonly name: string;
  readonly file: URL;
  /** Carries the types of `run` and has no value. */
  readonly types?: Run;
}

export type TaskInput<Run extends TaskFunction> = Parameters<Run>[0];
/** What `run` resolves with, without the wrapping of `transferred`. */
export type TaskOutput<Run extends TaskFunction> =
  Awaited<ReturnType<Run>> extends { readonly transferredValue: infer Value } ? Value : Awaited<ReturnType<Run>>;

/** Types come from the file itself: `defineTask<typeof import('../../workers/hash.ts').run>('hash', new URL(...))`. */
export function defineTask<Run extends TaskFunction>(name: string, file: URL): TaskSpec<Run> {
  return { name, file };
}

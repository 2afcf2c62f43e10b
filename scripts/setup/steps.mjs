import { Progress } from './progress.mjs';

/**
 * A piece of set-up. prepare throws SetUpError when the machine lacks something, before any step has run.
 * @typedef {{ title: string, isDone: () => Promise<boolean>, prepare?: () => void,
 *   run: (report: (text: string) => void) => Promise<unknown> }} Step
 */

/**
 * Runs the steps that are not done, in order. Prints nothing when all are.
 * @param {Step[]} steps
 * @param {{ isTTY?: boolean, write(text: string): unknown }} out
 */
export async function runSteps(steps, out = process.stderr) {
  const done = await Promise.all(steps.map((step) => step.isDone()));
  const pending = steps.filter((_, index) => !done[index]);
  for (const step of pending) step.prepare?.();
  const progress = new Progress(pending.length, out);
  for (const step of pending) await progress.step(step.title, step.run);
}

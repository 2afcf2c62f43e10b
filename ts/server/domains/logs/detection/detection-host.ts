/** The thread of detection answers what it is asked, one after the other. */
import { type Detected, type DetectedCopy, Detector } from './detector.ts';
import type { InstalledRule } from './rule-set.ts';

export interface DetectionOperations {
  useRules: { input: { rules: readonly InstalledRule[] }; output: null };
  advance: { input: { copy: DetectedCopy; nowMs: number }; output: Detected };
  /** Says that all that was found so far is in the database. */
  keep: { input: Record<string, never>; output: null };
}

type Operation = keyof DetectionOperations;
export type DetectionRequest = { id: number; operation: Operation; input: unknown };
type DetectionReply = { id: number } & ({ failure: string } | { output: unknown });

const BUDGET_MS = 1_000;

export class DetectionHost {
  readonly #detector: Detector;
  #last: Promise<unknown> = Promise.resolve();

  /** @param file what the detector knows over restarts. */
  constructor(file: string) {
    this.#detector = new Detector(file);
  }

  answer({ id, operation, input }: DetectionRequest): Promise<DetectionReply> {
    const answer = this.#answers[operation] as (input: unknown) => Promise<unknown>;
    const done = this.#last
      .then(() => answer(input))
      .then(
        (output): DetectionReply => ({ id, output }),
        (error: unknown): DetectionReply => ({ id, failure: (error as Error).message }),
      );
    this.#last = done;
    return done;
  }

  readonly #answers: { [O in Operation]: (input: DetectionOperations[O]['input']) => Promise<DetectionOperations[O]['output']> } =
    {
      useRules: async ({ rules }) => {
        await this.#detector.useRules(rules);
        return null;
      },
      advance: ({ copy, nowMs }) => this.#detector.advance(copy, nowMs, BUDGET_MS),
      keep: async () => {
        await this.#detector.keep();
        return null;
      },
    };
}

/** What is tried of packages, and what came of it: a line for each. */
export class Checks {
  passed = 0;
  skipped = 0;
  readonly #failures: string[] = [];

  get failed(): number {
    return this.#failures.length;
  }

  /** `attempt` throws a sentence for what is wrong; what it resolves to is printed beside the name. */
  async try(name: string, attempt: () => Promise<string | undefined> | string | undefined): Promise<void> {
    const began = performance.now();
    try {
      const note = await attempt();
      const seconds = Math.round((performance.now() - began) / 1000);
      const notes = [note, seconds >= 5 ? `took ${seconds} s` : undefined].filter((each) => each !== undefined);
      this.passed += 1;
      console.log(`ok       ${name}${notes.length === 0 ? '' : ` (${notes.join('; ')})`}`);
    } catch (error) {
      const failure = `FAILED   ${name}: ${(error as Error).message}`;
      this.#failures.push(failure);
      console.log(failure);
    }
  }

  /** The end of a long output is what is read first. */
  printFailuresAgain(): void {
    for (const failure of this.#failures) console.log(failure);
  }

  /** What cannot be tried on this machine. */
  skip(name: string, why: string): void {
    this.skipped += 1;
    console.log(`skipped  ${name}: ${why}`);
  }
}

export function expect(isTrue: boolean, otherwise: string): void {
  if (!isTrue) throw new Error(otherwise);
}

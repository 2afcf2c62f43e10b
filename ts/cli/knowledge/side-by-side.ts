/** Several files at a time, and how much of all of them was sent. */
export async function sideBySide<T>(items: readonly T[], nAtOnce: number, run: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  let hasFailed = false;
  const work = async () => {
    for (const item of rest) {
      if (hasFailed) return;
      await run(item).catch((error: unknown) => {
        hasFailed = true;
        throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: nAtOnce }, work));
}

export class SentBytes {
  readonly #bytes = new Map<object, number>();
  #sum = 0;

  get sum(): number {
    return this.#sum;
  }

  set(file: object, bytes: number): void {
    this.#sum += bytes - (this.#bytes.get(file) ?? 0);
    this.#bytes.set(file, bytes);
  }
}

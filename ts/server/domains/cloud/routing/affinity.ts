/** Remembers which backend answered a conversation the last time: its provider's prompt cache has what was said before. */
const MOST_KEPT = 20_000;

export class Affinity {
  readonly #kept = new Map<string, string>();

  find(conversation: string): string | undefined {
    return this.#kept.get(conversation);
  }

  keep(conversation: string, backend: string): void {
    this.#kept.delete(conversation);
    this.#kept.set(conversation, backend);
    if (this.#kept.size <= MOST_KEPT) return;
    for (const oldest of this.#kept.keys()) {
      this.#kept.delete(oldest);
      return;
    }
  }
}

/** Finds out beside the start whether the database is whole. What takes longer than may be waited for is still found out. */
import type { Storage } from './storage.ts';
import type { StorageError } from './storage-error.ts';

/** So long a node that could take work waits for a file that takes long to read. */
const LIMIT_MS = 2_000;

export class Integrity {
  /** Resolves if and when damage is found. */
  readonly damaged: Promise<StorageError>;
  readonly #storage: Pick<Storage, 'findDamage'>;
  readonly #limitMs: number;
  readonly #foundDamage: (damage: StorageError) => void;
  #result: Promise<StorageError | undefined> | undefined;
  #isAwaited = false;

  constructor(storage: Pick<Storage, 'findDamage'>, limitMs = LIMIT_MS) {
    this.#storage = storage;
    this.#limitMs = limitMs;
    const { promise, resolve } = Promise.withResolvers<StorageError>();
    this.damaged = promise;
    this.#foundDamage = resolve;
  }

  /** Whether the node is to wait before it says that it is ready. */
  get isAwaited(): boolean {
    return this.#isAwaited;
  }

  /** Once the database is open: by then what a crash left in its log is known to every connection. */
  begin(): void {
    this.#isAwaited = true;
    const timer = setTimeout(() => (this.#isAwaited = false), this.#limitMs);
    void this.#look().then((damage) => {
      clearTimeout(timer);
      // A damaged node is never ready.
      if (damage === undefined) this.#isAwaited = false;
      else this.#foundDamage(damage);
    });
  }

  /** The damage behind an error of the start, which may only tell which statement met it. */
  async causeOf(error: unknown): Promise<StorageError | undefined> {
    const { code } = error as { code?: unknown };
    return code === 'storage_unavailable' ? await this.#look() : undefined;
  }

  /** A file that cannot be checked is not known to be damaged. */
  #look(): Promise<StorageError | undefined> {
    this.#result ??= this.#storage.findDamage().catch(() => undefined);
    return this.#result;
  }
}

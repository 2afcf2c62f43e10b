/**
 * Files of the data folder that stay while a backup reads them: its copy of the database was made before, and has rows that name them. A removal
 * of that time is done when the backup has ended; one that a crash forgets is the removing module's to find again.
 */
export class RemovalHold {
  #holders = 0;
  #waiting: (() => Promise<void>)[] = [];

  get isHeld(): boolean {
    return this.#holders > 0;
  }

  /** Until what it returns is called, once. */
  hold(): () => Promise<void> {
    this.#holders += 1;
    return async () => {
      this.#holders -= 1;
      if (this.isHeld) return;
      const waiting = this.#waiting;
      this.#waiting = [];
      await Promise.allSettled(waiting.map((remove) => remove()));
    };
  }

  /** `later` must look again whether the file is still unwanted: it may be stored anew meanwhile. */
  async remove(now: () => Promise<void>, later: () => Promise<void>): Promise<void> {
    if (this.isHeld) this.#waiting.push(later);
    else await now();
  }
}

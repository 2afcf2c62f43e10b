/** A call without arguments must still carry "{}": clients parse the arguments of every call as JSON. */

const emptyArguments = Buffer.from('{}');

export class ArgumentGuard {
  /** Choice -> index of its open call, which has no arguments yet. */
  readonly #bare = new Map<number, number>();

  started(choice: number, index: number): void {
    this.#bare.set(choice, index);
  }

  received(choice: number): void {
    if (this.#bare.size > 0) this.#bare.delete(choice);
  }

  /** Call before the next call of the choice begins, and before its end. */
  settle(choice: number, send: (index: number, jsonBody: Buffer) => void): void {
    const index = this.#bare.get(choice);
    if (index === undefined) return;
    this.#bare.delete(choice);
    send(index, emptyArguments);
  }
}

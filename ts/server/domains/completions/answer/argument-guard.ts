/** A call without arguments must still carry "{}": clients parse the arguments of every call as JSON. */

const emptyArguments = Buffer.from('{}');

export class ArgumentGuard {
  /** Choice -> index of its open call, which has no arguments yet. */
  #bare: Map<number, number> | undefined;

  started(choice: number, index: number): void {
    this.#bare ??= new Map();
    this.#bare.set(choice, index);
  }

  received(choice: number): void {
    this.#bare?.delete(choice);
  }

  /** Call before the next call of the choice begins, and before its end. */
  complete(choice: number, send: (index: number, jsonBody: Buffer) => void): void {
    const index = this.#bare?.get(choice);
    if (index === undefined) return;
    this.#bare?.delete(choice);
    send(index, emptyArguments);
  }
}

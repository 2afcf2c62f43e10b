import type { MessagePort } from 'node:worker_threads';

/** A task returns this to move buffers and ports to the caller's thread instead of copying them. */
export class Transferred<Value> {
  readonly transferredValue: Value;
  readonly buffers: readonly (ArrayBuffer | MessagePort)[];

  constructor(value: Value, buffers: readonly (ArrayBuffer | MessagePort)[]) {
    this.transferredValue = value;
    this.buffers = buffers;
  }
}

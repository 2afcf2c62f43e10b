/** A task returns this to move buffers to the caller's thread instead of copying them. */
export class Transferred<Value> {
  readonly transferredValue: Value;
  readonly buffers: readonly ArrayBuffer[];

  constructor(value: Value, buffers: readonly ArrayBuffer[]) {
    this.transferredValue = value;
    this.buffers = buffers;
  }
}

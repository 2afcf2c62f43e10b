/** A client for tests: keeps what is written to it, and reads as slowly as the test wants. */
import type { EventStream } from '../../../../platform/http/route.ts';

export class ScriptedStream implements EventStream {
  readonly writes: string[] = [];
  isEnded = false;
  /** The result of write(). */
  isFast = true;
  drain: () => void = () => {};
  leave: () => void = () => {};

  get text(): string {
    return this.writes.join('');
  }

  write(frames: Uint8Array | string): boolean {
    this.writes.push(Buffer.from(frames as Uint8Array).toString());
    return this.isFast;
  }

  onDrain(callback: () => void): void {
    this.drain = callback;
  }

  onClose(callback: () => void): void {
    this.leave = callback;
  }

  end(): void {
    this.isEnded = true;
  }
}

/** A task that does what its input says: the ways in which a task can end, for the pool's tests. */
import { Transferred } from '../transferred.ts';

export type Act =
  | { act: 'echo'; value: unknown }
  | { act: 'move'; buffer: ArrayBuffer }
  | { act: 'spin' | 'grow' | 'buffers' | 'parse' | 'exit' | 'uncaught' | 'unclonable' | 'environment' }
  | { act: 'throw'; message: string; code?: string }
  | { act: 'wait'; gate: Int32Array };

export function run(input: Act): unknown {
  switch (input.act) {
    case 'echo':
      return input.value;
    case 'move':
      return new Transferred({ size: input.buffer.byteLength, buffer: input.buffer }, [input.buffer]);
    case 'throw':
      throw Object.assign(new Error(input.message), { code: input.code });
    case 'wait':
      Atomics.wait(input.gate, 0, 0);
      return 'waited';
    default:
      return misbehave(input.act);
  }
}

function misbehave(act: string): unknown {
  const held: unknown[] = [];
  switch (act) {
    case 'spin':
      for (;;);
    case 'grow':
      for (;;) held.push({ values: [held.length] });
    case 'buffers':
      return holdBuffers(held);
    case 'parse':
      // One built-in call that allocates far more than the limits of the tests, in single large blocks.
      return (JSON.parse(`[${'{"a":1,"b":[1,2,3]},'.repeat(2e6)}0]`) as unknown[]).length;
    case 'exit':
      return process.exit(0);
    case 'uncaught':
      queueMicrotask(() => {
        throw new Error('nobody catches this');
      });
      return new Promise(() => {});
    case 'unclonable':
      return () => {};
    default:
      return Object.keys(process.env);
  }
}

async function holdBuffers(held: unknown[]): Promise<never> {
  for (;;) {
    if (held.length < 512) held.push(Buffer.alloc(1 << 20, 1));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

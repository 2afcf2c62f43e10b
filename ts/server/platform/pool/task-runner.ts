/** Runs in the pool's threads: imports a task's file and answers with its result, or with the error as plain data. */
import { setPriority } from 'node:os';
import { threadId } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import type { TaskMessage, TaskReply } from './task-reply.ts';
import { Transferred } from './transferred.ts';

/** Behind the threads that serve and compute. */
const niceness = 5;

// On Linux the call concerns the thread that makes it; elsewhere it would concern the whole process.
if (process.platform === 'linux') setPriority(niceness);

/** Piscina's type names symbols that it does not export by those names. */
type Movable = Parameters<typeof Piscina.move>[0];

export async function runTask(message: TaskMessage): Promise<unknown> {
  Atomics.store(message.threadId, 0, threadId);
  try {
    const { run } = (await import(message.file)) as { run: (input: unknown) => unknown };
    const value = await run(message.input);
    return value instanceof Transferred ? movable(value) : ({ ok: true, value } satisfies TaskReply);
  } catch (error) {
    return describe(error);
  }
}

async function movable({ transferredValue, buffers }: Transferred<unknown>): Promise<unknown> {
  const { move, transferableSymbol, valueSymbol } = await import('piscina');
  const value: TaskReply = { ok: true, value: transferredValue };
  return move({ [transferableSymbol]: buffers, [valueSymbol]: value } as unknown as Movable);
}

function describe(error: unknown): TaskReply {
  if (!(error instanceof Error)) return { ok: false, message: String(error) };
  const { message, stack = '' } = error;
  const code = (error as { code?: unknown }).code;
  return { ok: false, message, stack, ...(typeof code === 'string' ? { code } : {}) };
}

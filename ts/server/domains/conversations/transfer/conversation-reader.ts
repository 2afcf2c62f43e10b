/** Reads conversations of export files in a thread of their own: parsing a large one would hold up everything else. */
import { PoolError } from '../../../platform/pool/pool-error.ts';
import { defineTask } from '../../../platform/pool/task-spec.ts';
import { WorkerPool } from '../../../platform/pool/worker-pool.ts';
import { type ConversationError, conversationError } from '../errors.ts';
import type { PackedConversation } from './packed-conversation.ts';

const task = defineTask<typeof import('../../../../workers/read-conversation.ts').run>(
  'read-conversation',
  new URL('../../../../workers/read-conversation.ts', import.meta.url),
);

/** Far more than the largest conversation with the most values takes. */
const LIMITS = { timeoutMs: 60_000, maxMemoryMb: 512 };
const MAX_WAITING = 10_000;

export class ConversationReader {
  #pool: WorkerPool | undefined;

  /** @param bytes move to the thread. Throws ConversationError `invalid_import` and `storage_unavailable`. */
  async read(bytes: Uint8Array<ArrayBuffer>, now: number): Promise<PackedConversation> {
    this.#pool ??= new WorkerPool({ nThreads: 1, maxMemoryMb: LIMITS.maxMemoryMb, maxQueue: MAX_WAITING });
    const options = { timeoutMs: LIMITS.timeoutMs, transfer: [bytes.buffer] };
    const result = await this.#pool.run(task, { bytes, now }, options).catch((error: unknown) => {
      throw error instanceof PoolError ? refusalOf(error) : error;
    });
    if (result.kind === 'read') return result.conversation;
    throw conversationError(
      'invalid_import',
      result.kind === 'no_json'
        ? 'The conversation is not valid JSON.'
        : 'The conversation has none of the formats that are read: an export of this program, of ChatGPT or of Open WebUI.',
    );
  }

  async close(): Promise<void> {
    await this.#pool?.close(0);
    this.#pool = undefined;
  }
}

function refusalOf({ code, message }: PoolError): ConversationError {
  if (code === 'pool_full' || code === 'pool_closed') return conversationError('storage_unavailable', message);
  const limit = code === 'task_timeout' ? `${LIMITS.timeoutMs / 1000} seconds` : `${LIMITS.maxMemoryMb} MiB of memory`;
  return conversationError('invalid_import', `The conversation takes more than ${limit} to be read.`);
}

/** The bytes that the conversations and artifacts of a tenant take, and their limit. Rows name their own, so that what is erased no longer counts. */
import { type Kysely, sql } from 'kysely';
import type { Storage, TenantScope } from '../../../platform/storage/index.ts';
import { type ConversationError, conversationError } from '../errors.ts';
import type { ConversationTables } from './tables.ts';

/** What a row takes beside its texts. */
const ROW_BYTES = 256;
/** While a tenant is so far from its limit, a sum serves a while: what other nodes write meanwhile is less. */
const FAR_BYTES = 256 * 1024 * 1024;
const SUM_MS = 60_000;
const MAX_SUMS = 10_000;

interface Sum {
  bytes: number;
  /** By performance.now(). */
  readonly at: number;
}

export function bytesOfTexts(...texts: readonly (string | null)[]): number {
  return texts.reduce((total, text) => total + (text === null ? 0 : Buffer.byteLength(text)), ROW_BYTES);
}

export class TenantSpace {
  readonly #storage: Storage;
  readonly #limitBytes: number;
  readonly #sums = new Map<string, Sum>();

  constructor(storage: Storage, limitBytes: number) {
    this.#storage = storage;
    this.#limitBytes = limitBytes;
  }

  /** Is called in the transaction that adds so many bytes. Throws `conversation_quota_exceeded`. */
  async require(tx: Kysely<ConversationTables>, { tenant }: TenantScope, bytes: number): Promise<void> {
    if (bytes <= 0 || this.#addsFar(tenant, bytes)) return;
    const used = await sumOf(tx, tenant);
    if (used + bytes > this.#limitBytes) throw this.#exceeded(used, bytes);
    if (this.#sums.size >= MAX_SUMS) this.#sums.clear();
    this.#sums.set(tenant, { bytes: used + bytes, at: performance.now() });
  }

  /** The same before there is anything to write. */
  async requireCapacity(scope: TenantScope, bytes: number): Promise<void> {
    if (this.#addsFar(scope.tenant, bytes)) return;
    await this.#storage.access<ConversationTables>().read(scope, (db) => this.require(db, scope, bytes));
  }

  /** Whether the tenant is far from its limit, also with so many bytes more, which then are counted. */
  #addsFar(tenant: string, bytes: number): boolean {
    const known = this.#sums.get(tenant);
    if (known === undefined || performance.now() > known.at + SUM_MS) return false;
    if (known.bytes + bytes > this.#limitBytes - FAR_BYTES) return false;
    known.bytes += bytes;
    return true;
  }

  #exceeded(used: number, bytes: number): ConversationError {
    const detail =
      `The conversations and artifacts of the tenant take ${used} of ${this.#limitBytes} bytes, and this needs ${bytes} more. ` +
      'Delete conversations or artifacts, or have an administrator raise `conversations.tenant_bytes`.';
    return conversationError('conversation_quota_exceeded', detail);
  }
}

async function sumOf(tx: Kysely<ConversationTables>, tenant: string): Promise<number> {
  let total = 0;
  for (const table of ['conversations', 'artifacts'] as const) {
    const { bytes } = await tx
      .selectFrom(table)
      .select(sql<number | null>`sum(bytes)`.as('bytes'))
      .where('tenant', '=', tenant)
      .executeTakeFirstOrThrow();
    total += Number(bytes ?? 0);
  }
  return total;
}

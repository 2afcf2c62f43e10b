/** Writes what belongs to no transaction of its own (sign-ins that were refused, denials), reads the log, and verifies it. */

import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import type { Log } from '../../../platform/log/log.ts';
import { isSystemScope, type Page, readPage, type StorageScope, systemScope } from '../../../platform/storage/index.ts';
import type { AuditRow, IdentityStorage, IdentityTables } from '../tables.ts';
import { appendToChain } from './audit-chain.ts';
import type { AuditEntry, AuditOutcome } from './audit-entry.ts';
import { type ChainVerification, verifyChain } from './chain-verification.ts';

interface AuditPage extends AuditFilter {
  /** Entries that follow this number, which are older; undefined: from the newest on. */
  after: number | undefined;
  limit: number;
}

/** Refusals can be provoked by strangers; beyond this many that wait to be written they are counted, not kept. */
const MAX_WAITING = 1_000;

export class AuditLog {
  readonly #storage: IdentityStorage;
  readonly #log: Log;
  #waiting: AuditEntry[] = [];
  #nLeftOut = 0;
  #writing: Promise<void> | undefined;

  constructor(storage: IdentityStorage, log: Log) {
    this.#storage = storage;
    this.#log = log;
  }

  /** Is written soon, together with what comes meanwhile. */
  add(entry: AuditEntry): void {
    if (this.#waiting.length >= MAX_WAITING) {
      this.#nLeftOut += 1;
      return;
    }
    this.#waiting.push(entry);
    this.#writing ??= this.#writeAll();
  }

  /** Resolves when all that was added is on disk. */
  async flush(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  /** Newest first. A tenant's administrators see what happened in their tenant. */
  list(scope: StorageScope, { after, limit, ...filter }: AuditPage): Promise<Page<AuditRow>> {
    return this.#storage.read(scope, (db) => {
      let query = db.selectFrom('identity_audit').selectAll().orderBy('seq', 'desc');
      query = query.where((row) => matching(row, filter));
      if (!isSystemScope(scope)) query = query.where('tenant', '=', scope.tenant);
      if (after !== undefined) query = query.where('seq', '<', after);
      return readPage(query, limit, ['detail', 'target', 'actor']);
    });
  }

  verify(): Promise<ChainVerification> {
    return verifyChain(this.#storage);
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const entries = this.#waiting;
      this.#waiting = [];
      const nLeftOut = this.#nLeftOut;
      this.#nLeftOut = 0;
      if (nLeftOut > 0) entries.push(leftOut(nLeftOut));
      await this.#storage
        .write(systemScope(), (tx) => appendToChain(tx, entries))
        .catch((error: unknown) => this.#log.error('entries of the audit log were not written', { n: entries.length, error }));
    }
    this.#writing = undefined;
  }
}

function leftOut(n: number): AuditEntry {
  const nowhere = { tenant: 'default', actor: 'node', target: '', remoteAddress: '', requestId: '' };
  return { ...nowhere, at: Date.now(), action: 'audit.left_out', outcome: 'failed', detail: { entries: n } };
}

/** Which lines of the audit log are asked for. */
interface AuditFilter {
  /** Stands somewhere in who, what, to what, from where or the details, whatever the case of ASCII letters. */
  text?: string | undefined;
  outcome?: AuditOutcome | undefined;
  /** Unix milliseconds: lines of [from, to). */
  from?: number | undefined;
  to?: number | undefined;
}

const SEARCHED = ['actor', 'action', 'target', 'detail', 'remote_address', 'request_id', 'tenant'] as const;

function matching(
  row: ExpressionBuilder<IdentityTables, 'identity_audit'>,
  { text, outcome, from, to }: AuditFilter,
): Expression<SqlBool> {
  const conditions: Expression<SqlBool>[] = [];
  if (outcome !== undefined) conditions.push(row('outcome', '=', outcome));
  if (from !== undefined) conditions.push(row('at', '>=', from));
  if (to !== undefined) conditions.push(row('at', '<', to));
  if (text !== undefined) {
    const pattern = likePattern(text);
    conditions.push(row.or(SEARCHED.map((column) => sql<SqlBool>`lower(${sql.ref(column)}) like ${pattern} escape '!'`)));
  }
  return row.and(conditions);
}

/** Both databases change the case of ASCII letters alone. */
function likePattern(text: string): string {
  const lower = text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return `%${lower.replace(/[!%_]/g, '!$&')}%`;
}

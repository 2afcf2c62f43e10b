/** How everything that changes identity is written: its rows, its lines of the audit log, and what other nodes are told, or nothing of it. */
import type { Kysely } from 'kysely';
import type { StorageScope } from '../../../platform/storage/index.ts';
import { appendToChain } from '../audit/audit-chain.ts';
import type { AuditEntry } from '../audit/audit-entry.ts';
import type { IdentityStorage, IdentityTables } from '../tables.ts';
import type { ChangeAnnouncer } from './change-announcer.ts';
import type { CredentialChange } from './credential-change.ts';

interface Written<T> {
  result: T;
  /** None: nothing was changed. */
  entries: readonly AuditEntry[];
  /** Whose credentials mean something else than before, which other nodes look up again; absent: nobody's. */
  changed?: Omit<CredentialChange, 'requestId'>;
}

/** What a write ends with that found nothing to change. */
export function unchanged<T>(result: T): Written<T> {
  return { result, entries: [] };
}

export class IdentityWrites {
  readonly #storage: IdentityStorage;
  readonly #announcer: ChangeAnnouncer;

  constructor(storage: IdentityStorage, announcer: ChangeAnnouncer) {
    this.#storage = storage;
    this.#announcer = announcer;
  }

  /** `change` writes the rows, in the one transaction; what it throws undoes all. */
  write<T>(scope: StorageScope, change: (tx: Kysely<IdentityTables>) => Promise<Written<T>>): Promise<T> {
    return this.#storage.write(scope, async (tx) => {
      const { result, entries, changed } = await change(tx);
      await appendToChain(tx, entries);
      if (changed !== undefined) await this.#announcer.announce(tx, changed);
      return result;
    });
  }
}

/** Tells other nodes of a change, in the transaction that makes it: they hear of it when it is committed, and of nothing that is not. */
import { randomBytes } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { IdentityStorage, IdentityTables } from '../tables.ts';
import { raiseVersion } from './change-version.ts';
import type { CredentialChange } from './credential-change.ts';

export const CHANGE_CHANNEL = 'svc_credentials';

/** What travels, as JSON. */
export interface AnnouncedChange {
  version: number;
  /** The process that made the change. */
  origin: string;
  tenant: string | null;
  user: string | null;
}

export class ChangeAnnouncer {
  readonly origin = randomBytes(9).toString('base64url');
  readonly #isShared: boolean;

  constructor({ dialect }: Pick<IdentityStorage, 'dialect'>) {
    this.#isShared = dialect === 'postgres';
  }

  async announce(tx: Kysely<IdentityTables>, { tenant, user }: Omit<CredentialChange, 'requestId'>): Promise<void> {
    if (!this.#isShared) return;
    const version = await raiseVersion(tx, this.origin);
    const change: AnnouncedChange = { version, origin: this.origin, tenant: tenant ?? null, user: user ?? null };
    await sql`select pg_notify(${CHANGE_CHANNEL}, ${JSON.stringify(change)})`.execute(tx);
  }
}

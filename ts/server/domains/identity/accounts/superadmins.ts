/** Somebody must be able to administer the installation: whatever would leave no superadmin who can sign in is refused. */
import { type Kysely, sql } from 'kysely';
import { identityError } from '../errors.ts';
import type { IdentityTables } from '../tables.ts';

interface Superadmin {
  readonly id: string;
  /** Has a password, or is linked to the sign-in provider that is configured. */
  readonly canSignIn: boolean;
}

export class Superadmins {
  /** Of the provider, as links may spell it. */
  readonly #issuers: readonly string[];

  /** `issuer` is undefined where no sign-in provider is configured. */
  constructor(issuer: URL | undefined) {
    this.#issuers = issuer === undefined ? [] : [issuer.href, issuer.href.replace(/\/$/, '')];
  }

  /** Does the change, in the transaction that it is part of. Throws `last_superadmin`, upon which the transaction undoes it. */
  async guard<T>(tx: Kysely<IdentityTables>, change: () => Promise<T>): Promise<T> {
    const before = await this.#list(tx);
    const result = await change();
    const after = await this.#list(tx);
    const isLocked = after.length === 0 || (before.some(canSignIn) && !after.some(canSignIn));
    if (before.length > 0 && isLocked) throw lastSuperadmin();
    return result;
  }

  /** Whether nobody else could administer the installation. */
  async isLast(tx: Kysely<IdentityTables>, userId: string): Promise<boolean> {
    const others = (await this.#list(tx)).filter(({ id }) => id !== userId);
    return !others.some(canSignIn);
  }

  /** Those that are enabled, and no program's. */
  async #list(tx: Kysely<IdentityTables>): Promise<Superadmin[]> {
    const rows = await tx
      .selectFrom('identity_users as u')
      .select(['u.id', 'u.password_hash'])
      .select((eb) =>
        eb
          .selectFrom('identity_links as l')
          .select(sql<number>`count(*)`.as('n'))
          .whereRef('l.user_id', '=', 'u.id')
          .where('l.issuer', 'in', this.#issuers.length === 0 ? [''] : [...this.#issuers])
          .as('n_links'),
      )
      .where('u.role', '=', 'superadmin')
      .where('u.disabled', '=', 0)
      .where('u.service', '=', 0)
      .execute();
    return rows.map(({ id, password_hash, n_links }) => ({ id, canSignIn: password_hash !== null || Number(n_links) > 0 }));
  }
}

function canSignIn(superadmin: Superadmin): boolean {
  return superadmin.canSignIn;
}

function lastSuperadmin(): Error {
  const detail =
    'No superadmin who can sign in would be left: all others are disabled, or have neither a password nor a link to the sign-in provider. ' +
    'Make another one with a password first (`svc admin create NAME`), or issue one of them a reset token (`svc user reset NAME`) and have it used.';
  return identityError('last_superadmin', detail);
}

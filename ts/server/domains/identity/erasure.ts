/**
 * What the other modules keep of tenants and accounts goes when these are deleted: each is told by the outbox, apart from the others, until it has
 * erased everything. The outbox tells one node. What lies on a node alone, that node erases itself, also one that was off meanwhile: it asks which of
 * those who have something on it are deleted. Ids are never used again, so that it may ask at any time.
 */
import type { Events } from '../../platform/events/index.ts';
import type { Log } from '../../platform/log/log.ts';
import type { Owner } from '../../platform/module/belongings.ts';
import { Repeater } from '../../platform/repeater.ts';
import { systemScope, tenantScope } from '../../platform/storage/index.ts';
import { tenantDeleted, userDeleted } from './events.ts';
import type { IdentityStorage } from './tables.ts';

interface ErasureDeps {
  readonly events: Events;
  readonly storage: IdentityStorage;
  readonly log: Log;
  readonly sweepMs: number;
}

/** A query names so many ids. */
const STEP = 500;

export class Erasure {
  readonly #deps: ErasureDeps;
  readonly #sweep: Repeater;
  #owners: readonly Owner[] = [];

  constructor(deps: ErasureDeps) {
    this.#deps = deps;
    const onError = (error: unknown) => this.#warn(error);
    this.#sweep = new Repeater({ intervalMs: deps.sweepMs, run: () => this.#eraseHere(), onError });
  }

  /** Once, before the events start. */
  connect(owners: readonly Owner[]): void {
    this.#owners = owners;
    for (const owner of owners) this.#subscribe(owner);
  }

  start(): void {
    this.#sweep.start();
  }

  async stop(): Promise<void> {
    await this.#sweep.stop();
  }

  /** Names of those that have something of a tenant which somebody made. */
  async ownersOf(tenant: string): Promise<string[]> {
    const scope = tenantScope(tenant);
    const asked = this.#owners.map(async ({ name, belongings }) => ((await belongings.holdsAny?.(scope)) ? name : undefined));
    return (await Promise.all(asked)).filter((name) => name !== undefined);
  }

  #subscribe({ name, belongings }: Owner): void {
    this.#deps.events.subscribeDurably({
      name: `erasure.${name}`,
      types: [tenantDeleted, userDeleted],
      deliver: async (event) => {
        if (tenantDeleted.is(event)) await belongings.eraseTenant(tenantScope(event.payload.id));
        // The event is of the tenant of whoever deleted the account, which may be another one.
        if (userDeleted.is(event)) await belongings.eraseAccount?.(systemScope(), event.payload.id);
      },
    });
  }

  /** One module that fails keeps no other from it. */
  async #eraseHere(): Promise<void> {
    for (const owner of this.#owners) await this.#eraseOf(owner).catch((error: unknown) => this.#warn(error, owner.name));
  }

  async #eraseOf({ belongings }: Owner): Promise<void> {
    const held = await belongings.heldHere?.();
    if (held === undefined) return;
    for (const id of await this.#idsIn('identity_deleted_tenants', held.tenants)) await belongings.eraseTenant(tenantScope(id));
    for (const id of await this.#idsIn('identity_deleted_users', held.accounts))
      await belongings.eraseAccount?.(systemScope(), id);
  }

  async #idsIn(table: 'identity_deleted_tenants' | 'identity_deleted_users', ids: readonly string[]): Promise<string[]> {
    const found: string[] = [];
    for (let at = 0; at < ids.length; at += STEP) {
      const some = ids.slice(at, at + STEP);
      const rows = await this.#deps.storage.read(systemScope(), (db) =>
        db.selectFrom(table).select('id').where('id', 'in', some).execute(),
      );
      found.push(...rows.map(({ id }) => id));
    }
    return found;
  }

  #warn(error: unknown, module?: string): void {
    this.#deps.log.warn('what deleted tenants and accounts left on this node could not be erased; it is tried again', {
      ...(module !== undefined && { module }),
      error: String(error),
    });
  }
}

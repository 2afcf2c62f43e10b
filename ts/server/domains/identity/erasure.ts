/**
 * What the other modules keep of tenants and accounts goes when these are deleted: each is told by the outbox, apart from the others, until it has
 * erased everything.
 */
import type { Events } from '../../platform/events/index.ts';
import type { Owner } from '../../platform/module/belongings.ts';
import { systemScope, tenantScope } from '../../platform/storage/index.ts';
import { tenantDeleted, userDeleted } from './events.ts';

export class Erasure {
  readonly #events: Events;
  #owners: readonly Owner[] = [];

  constructor(events: Events) {
    this.#events = events;
  }

  /** Once, before the events start. */
  connect(owners: readonly Owner[]): void {
    this.#owners = owners;
    for (const owner of owners) this.#subscribe(owner);
  }

  /** Names of those that have something of a tenant which somebody made. */
  async ownersOf(tenant: string): Promise<string[]> {
    const scope = tenantScope(tenant);
    const asked = this.#owners.map(async ({ name, belongings }) => ((await belongings.holdsAny?.(scope)) ? name : undefined));
    return (await Promise.all(asked)).filter((name) => name !== undefined);
  }

  #subscribe({ name, belongings }: Owner): void {
    this.#events.subscribeDurably({
      name: `erasure.${name}`,
      types: [tenantDeleted, userDeleted],
      deliver: async (event) => {
        if (tenantDeleted.is(event)) await belongings.eraseTenant(tenantScope(event.payload.id));
        // The event is of the tenant of whoever deleted the account, which may be another one.
        if (userDeleted.is(event)) await belongings.eraseAccount?.(systemScope(), event.payload.id);
      },
    });
  }
}

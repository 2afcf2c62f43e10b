/** Events on a database, with a table of a module beside the outbox, which the test's teardown stops. */
import type { Test } from 'tap';
import Type from 'typebox';
import { Log } from '../../log/log.ts';
import { MetricsRegistry } from '../../metrics/registry.ts';
import { column, createStorage, type ModuleMigrations, type Storage } from '../../storage/index.ts';
import type { RecordedEvent } from '../durable-subscriber.ts';
import { EventType } from '../event-type.ts';
import { Events } from '../events.ts';
import type { EventsOptions } from '../events-options.ts';
import { eventsMigrations } from '../outbox/migrations.ts';

export interface AccountTables {
  accounts: { tenant: string; id: string };
}

export const accountsModule: ModuleMigrations = {
  module: 'accounts',
  migrations: [
    {
      id: 1,
      name: 'create accounts',
      up: (schema) => schema.tenantTable('accounts', { columns: { id: column.id() }, primaryKey: ['tenant', 'id'] }),
    },
  ],
};

export const accountMade = new EventType('accounts.made', Type.Object({ id: Type.String() }));
export const accountGone = new EventType('accounts.gone', Type.Object({ id: Type.String() }));

export interface OpenEvents {
  events: Events;
  storage: Storage;
  metrics: MetricsRegistry;
  /** The log so far. */
  lines: string[];
}

/** Looks into the outbox every 10 ms unless `options` says otherwise. Not started yet. */
export async function openEvents(t: Test, url: string, options: Partial<EventsOptions> = {}): Promise<OpenEvents> {
  const lines: string[] = [];
  const log = new Log({ level: 'debug', format: 'json', sink: { write: (line) => lines.push(line), flush: () => {} } });
  const metrics = new MetricsRegistry();
  const storage = createStorage({ url, modules: [eventsMigrations, accountsModule] });
  await storage.open();
  const retryMs = { first: 1, longest: 20 };
  const events = new Events({ storage, log, metrics, nodeId: () => 'node-1', pollMs: 10, retryMs, ...options });
  t.teardown(async () => {
    await events.stop();
    await storage.close();
  });
  return { events, storage, metrics, lines };
}

/** A durable subscriber that writes down the ids of the events that it got. */
export function noteIds(events: Events, name: string, types = [accountMade, accountGone]): string[] {
  const ids: string[] = [];
  const deliver = async ({ payload }: RecordedEvent) => void ids.push((payload as { id: string }).id);
  events.subscribeDurably({ name, types, deliver });
  return ids;
}

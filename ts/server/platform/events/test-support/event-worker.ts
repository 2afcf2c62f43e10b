/**
 * A node that is made to be killed: records events in its writes and delivers them to a durable subscriber, and prints a JSON line for each
 * recorded and delivered id. Usage: node event-worker.ts URL FIRST_ID. When its stdin ends, it waits until all is delivered, and ends.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { Log } from '../../log/log.ts';
import { MetricsRegistry } from '../../metrics/registry.ts';
import { createStorage, tenantScope } from '../../storage/index.ts';
import { Events } from '../events.ts';
import { eventsMigrations } from '../outbox/migrations.ts';
import { type AccountTables, accountGone, accountMade, accountsModule } from './open-events.ts';

export interface EventLine {
  recorded?: number;
  delivered?: number;
}

const [, , url = '', firstId = '0'] = process.argv;
const scope = tenantScope('red');
const say = (line: EventLine) => process.stdout.write(`${JSON.stringify(line)}\n`);

const log = new Log({ level: 'error', format: 'json', sink: { write: () => {}, flush: () => {} } });
const storage = createStorage({ url, modules: [eventsMigrations, accountsModule] });
await storage.open();
const events = new Events({ storage, log, metrics: new MetricsRegistry(), nodeId: () => 'node-1', pollMs: 20 });
const ended = Promise.withResolvers<void>();
events.subscribeDurably({
  name: 'audit',
  types: [accountMade, accountGone],
  deliver: async (event) => {
    if (accountGone.is(event)) ended.resolve();
    else if (accountMade.is(event)) say({ delivered: Number(event.payload.id) });
    await wait(1);
  },
});
await events.start();

let isAskedToEnd = false;
process.stdin.resume();
process.stdin.once('end', () => {
  isAskedToEnd = true;
});
const accounts = storage.access<AccountTables>();
for (let id = Number(firstId); !isAskedToEnd; id += 1) {
  const row = { tenant: 'red', id: String(id) };
  await accounts.writeUnit(scope, (db) => [
    db.insertInto('accounts').values(row),
    events.record(db, scope, accountMade, { id: row.id }),
  ]);
  say({ recorded: id });
  await wait(1);
}
await events.send(scope, accountGone, { id: 'last' });
await ended.promise;
await events.stop();
await storage.close();

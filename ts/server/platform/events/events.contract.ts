/** What holds of events on both databases. Each test opens a database of its own. */
import type { Test } from 'tap';
import { until } from '../jobs/test-support/open-jobs.ts';
import { systemScope, tenantScope } from '../storage/index.ts';
import { type NewDatabase, onEachDatabase } from '../storage/test-support/each-database.ts';
import type { RecordedEvent } from './durable-subscriber.ts';
import type { EventsOptions } from './events-options.ts';
import type { EventTables } from './outbox/event-tables.ts';
import {
  type AccountTables,
  accountGone,
  accountMade,
  noteIds,
  type OpenEvents,
  openEvents,
} from './test-support/open-events.ts';

const red = tenantScope('red');
const blue = tenantScope('blue');

function testEventsContract(t: Test, newDatabase: NewDatabase): void {
  async function open(t: Test, options: Partial<EventsOptions> = {}): Promise<OpenEvents & { url: string }> {
    const { url, remove } = await newDatabase();
    t.teardown(remove);
    const opened = await openEvents(t, url, options);
    return { ...opened, url };
  }

  t.test('an event is recorded with the write that it belongs to, or not at all', async (t) => {
    const { events, storage } = await open(t);
    const ids = noteIds(events, 'audit');
    await events.start();
    const accounts = storage.access<AccountTables>();
    const make = (id: string, fails: boolean) =>
      accounts.write(red, async (tx) => {
        await tx.insertInto('accounts').values({ tenant: 'red', id }).execute();
        await events.record(tx, red, accountMade, { id }).execute();
        if (fails) throw new Error('changed my mind');
      });
    await t.rejects(make('a', true), /changed my mind/);
    await make('b', false);
    const remake = (id: string) =>
      accounts.writeUnit(red, (db) => [
        db.insertInto('accounts').values({ tenant: 'red', id }),
        events.record(db, red, accountMade, { id }),
      ]);
    await t.rejects(remake('b'), { code: 'unique_violation' });
    await remake('c');
    await until(
      () => ids,
      (all) => all.includes('c'),
    );
    t.strictSame(ids, ['b', 'c']);
  });

  t.test('a durable subscriber gets the events of its types in order, with tenant and time', async (t) => {
    const { events } = await open(t, { now: () => 1_000 });
    const seen: RecordedEvent[] = [];
    const deliver = async (event: RecordedEvent) => void seen.push(event);
    events.subscribeDurably({ name: 'webhooks', types: [accountMade], deliver });
    const all = noteIds(events, 'audit');
    await events.start();
    await events.send(red, accountMade, { id: 'a' });
    await events.send(blue, accountGone, { id: 'b' });
    await events.send(systemScope(), accountMade, { id: 'c' });
    await until(
      () => all.length,
      (n) => n === 3,
    );
    t.strictSame(all, ['a', 'b', 'c']);
    await until(
      () => seen.length,
      (n) => n === 2,
    );
    t.match(seen, [
      { type: 'accounts.made', tenant: 'red', payload: { id: 'a' }, recordedAt: 1_000 },
      { tenant: undefined, payload: { id: 'c' } },
    ]);
    t.ok(seen.every((event) => accountMade.is(event) && !accountGone.is(event)));
  });

  t.test('what fails comes again before what follows, and delays no other subscriber', async (t) => {
    const { events, lines, metrics } = await open(t);
    const tries: string[] = [];
    events.subscribeDurably({
      name: 'shaky',
      types: [accountMade],
      deliver: async ({ payload }) => {
        const { id } = payload as { id: string };
        tries.push(id);
        if (id === 'b' && tries.filter((one) => one === 'b').length < 4) throw new Error('no answer');
      },
    });
    const steady = noteIds(events, 'steady');
    await events.start();
    for (const id of ['a', 'b', 'c']) await events.send(red, accountMade, { id });
    await until(
      () => [...tries, ...steady],
      (all) => all.filter((id) => id === 'c').length === 2,
    );
    t.strictSame(tries, ['a', 'b', 'b', 'b', 'b', 'c']);
    t.strictSame(steady, ['a', 'b', 'c']);
    t.ok(lines.some((line) => line.includes('will come again')));
    t.match(metrics.expose(), /svc_event_deliveries_total\{subscriber="shaky",outcome="failed"\} 3/);
  });

  t.test('a subscriber goes on where it was, and begins with what came after its first start', async (t) => {
    const { events, url } = await open(t);
    const first = noteIds(events, 'audit');
    await events.start();
    await events.send(red, accountMade, { id: 'a' });
    await until(
      () => first.length,
      (n) => n === 1,
    );
    await events.stop();
    await events.send(red, accountMade, { id: 'b' });
    const { events: next } = await openEvents(t, url);
    const second = noteIds(next, 'audit');
    await next.start();
    await next.send(red, accountMade, { id: 'c' });
    await until(
      () => second.length,
      (n) => n === 2,
    );
    t.strictSame(second, ['b', 'c']);
    await next.stop();
    const { events: later } = await openEvents(t, url);
    const late = noteIds(later, 'late');
    await later.start();
    await later.send(red, accountMade, { id: 'd' });
    await until(
      () => late.length,
      (n) => n > 0,
    );
    t.strictSame(late, ['d']);
  });

  t.test('a subscriber that does not answer is given up, and the event comes again', async (t) => {
    const { events } = await open(t, { leaseMs: 60 });
    let nCalls = 0;
    events.subscribeDurably({
      name: 'deaf',
      types: [accountMade],
      deliver: () => {
        nCalls += 1;
        return nCalls === 1 ? new Promise(() => undefined) : Promise.resolve();
      },
    });
    await events.start();
    await events.send(red, accountMade, { id: 'a' });
    await until(
      () => nCalls,
      (n) => n >= 2,
    );
    t.pass('it came again');
  });

  t.test('events that all have are deleted after their time, others stay', async (t) => {
    let now = 1_000;
    const { events, storage, url } = await open(t, { now: () => now, retentionMs: 500 });
    const ids = noteIds(events, 'audit');
    const { events: other } = await openEvents(t, url, { nodeId: () => 'node-2', now: () => now });
    other.subscribeDurably({ name: 'blocked', types: [accountGone], deliver: () => Promise.reject(new Error('never')) });
    await other.start();
    await events.start();
    await events.send(red, accountMade, { id: 'a' });
    await events.send(red, accountGone, { id: 'b' });
    await until(
      () => ids.length,
      (n) => n === 2,
    );
    await until(
      () => cursorOf(storage, 'blocked'),
      (seq) => seq === 1,
    );
    await events.stop();
    now += 501;
    await events.start();
    const rest = () => storage.access<EventTables>().read(systemScope(), (db) => db.selectFrom('events').select('seq').execute());
    t.strictSame(await until(rest, (rows) => rows.length < 2), [{ seq: 2 }]);
  });
}

async function cursorOf(storage: OpenEvents['storage'], name: string): Promise<number | undefined> {
  const rows = await storage
    .access<EventTables>()
    .read(systemScope(), (db) => db.selectFrom('event_subscribers').select('cursor_seq').where('name', '=', name).execute());
  return rows[0]?.cursor_seq;
}

onEachDatabase(testEventsContract);

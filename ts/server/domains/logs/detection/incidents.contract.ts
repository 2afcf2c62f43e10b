/** Incidents on both databases: what alerts make, join and open again, and who changes them. */
import type { Test } from 'tap';
import { Events, eventsMigrations } from '../../../platform/events/index.ts';
import { Log } from '../../../platform/log/log.ts';
import { MetricsRegistry } from '../../../platform/metrics/registry.ts';
import { createStorage } from '../../../platform/storage/index.ts';
import { type NewDatabase, newUrl, onEachDatabase } from '../../../platform/storage/test-support/each-database.ts';
import { IncidentStore, type MarkedAlert } from './incident-store.ts';
import { RuleStore } from './rule-store.ts';
import { everyLine, logsMigrations } from './tables.ts';

const AT = Date.parse('2026-11-28T12:00:00Z');
const HOUR_MS = 3_600_000;

let nAlerts = 0;

function alert(more: Partial<MarkedAlert> = {}): MarkedAlert {
  nAlerts += 1;
  const uuid = nAlerts.toString(16).toUpperCase().padStart(32, '0');
  return {
    rule: 'r',
    level: 'medium',
    author: '',
    family: 'f',
    entity: '203.0.113.9',
    atMs: AT,
    uuid,
    uuids: [uuid],
    addresses: [],
    count: 1,
    marks: [],
    ...more,
  };
}

async function openStore(t: Test, newDatabase: NewDatabase) {
  const storage = createStorage({
    url: await newUrl(t, newDatabase),
    modules: [eventsMigrations, { module: 'logs', migrations: logsMigrations }],
  });
  await storage.open();
  t.teardown(() => storage.close());
  const log = new Log({ level: 'error', format: 'json', sink: { write: () => undefined, flush: () => undefined } });
  const events = new Events({ storage, log, metrics: new MetricsRegistry(), nodeId: () => 'node', pollMs: 10 });
  const store = new IncidentStore(storage.access(), events);
  const rules = new RuleStore(storage.access());
  const list = () => store.list(everyLine(), { after: '', limit: 100 });
  const record = (alerts: MarkedAlert[], nowMs = AT) => store.record(everyLine(), alerts, nowMs);
  const told = async () =>
    (
      await storage
        .access<{ events: { type: string; tenant: string | null; payload: string } }>()
        .read(everyLine(), (db) => db.selectFrom('events').selectAll().execute())
    ).map(({ type }) => type);
  return { store, rules, list, record, told };
}

function testIncidents(t: Test, newDatabase: NewDatabase): void {
  t.test('alerts of a family about one entity are one incident, and an alert counts once', async (t) => {
    const { list, record, rules, told } = await openStore(t, newDatabase);
    const [a, b] = [alert({ author: 'Ann' }), alert({ rule: 's', level: 'high', atMs: AT + 1_000, marks: ['drop'] })];
    t.match(await record([a, b]), { nNew: 2, opened: [/^inc_/] });
    t.match(await record([b, a]), { nNew: 0, opened: [] }, 'what is read again is known');
    await record([alert({ entity: 'bob' }), alert({ family: 'g', count: 7 })]);
    t.match(
      (await list()).map(({ entity, family, alerts }) => ({ entity, family, alerts })).sort((x, y) => x.alerts - y.alerts),
      [
        { entity: 'bob', family: 'f', alerts: 1 },
        { entity: '203.0.113.9', family: 'f', alerts: 2 },
        { entity: '203.0.113.9', family: 'g', alerts: 7 },
      ],
    );
    t.match(
      (await list()).find(({ alerts }) => alerts === 2),
      {
        rule: 'r',
        severity: 'high',
        author: 'Ann',
        state: 'open',
        verdict: null,
        opened_at: AT,
        last_alert_at: AT + 1_000,
        closed_at: null,
        uuids: JSON.stringify([a.uuid, b.uuid]),
        marks: '["drop"]',
      },
    );
    t.match(await rules.list(everyLine()), [
      { id: 'r', yaml: null, enabled: 1, matches: 9 },
      { id: 's', matches: 1 },
    ]);
    t.strictSame(await told(), ['logs.incident-opened', 'logs.incident-opened', 'logs.incident-opened']);
  });

  t.test('a day later is another incident; one that was closed is opened again within a day', async (t) => {
    const { list, record, store, told } = await openStore(t, newDatabase);
    await record([alert()]);
    await record([alert({ atMs: AT + 25 * HOUR_MS })], AT + 25 * HOUR_MS);
    const [later, first] = await list();
    t.ok(later !== undefined && first !== undefined && later.id > first.id);
    const id = later?.id ?? '';
    t.match(await store.change(everyLine(), id, { state: 'closed', verdict: 'benign' }, AT + 26 * HOUR_MS), {
      state: 'closed',
      verdict: 'benign',
      closed_at: AT + 26 * HOUR_MS,
    });
    const at = AT + 27 * HOUR_MS;
    t.match(await record([alert({ atMs: at })], at), { opened: [id] });
    t.match((await list())[0], { id, state: 'open', verdict: null, closed_at: null, alerts: 2, opened_at: AT + 25 * HOUR_MS });
    await store.change(everyLine(), id, { state: 'closed', verdict: 'false_positive' }, at);
    t.equal((await record([alert({ atMs: at + 25 * HOUR_MS })], at + 25 * HOUR_MS)).opened.length, 1);
    t.equal((await list()).length, 3);
    t.equal((await told()).filter((type) => type === 'logs.incident-changed').length, 2);
  });

  t.test('states lead where they may, and lists go by state and page', async (t) => {
    const { list, record, store } = await openStore(t, newDatabase);
    await record([alert({ entity: 'a' }), alert({ entity: 'b' }), alert({ entity: 'c' })]);
    const [c, b] = await list();
    const change = (id: string | undefined, state: 'open' | 'acknowledged' | 'closed') =>
      store.change(everyLine(), id ?? '', { state, verdict: state === 'closed' ? 'true_positive' : null }, AT);
    t.match(await change(c?.id, 'acknowledged'), { state: 'acknowledged' });
    t.match(await change(c?.id, 'closed'), { state: 'closed', closed_at: AT });
    t.strictSame(await change(c?.id, 'acknowledged'), { refused: 'closed' });
    t.match(await change(c?.id, 'open'), { state: 'open', closed_at: null });
    t.equal(await change('inc_none', 'open'), undefined);
    await change(b?.id, 'closed');
    t.strictSame(
      (await store.list(everyLine(), { after: '', limit: 10, state: 'closed' })).map(({ id }) => id),
      [b?.id],
    );
    t.equal((await store.list(everyLine(), { after: c?.id ?? '', limit: 1 })).length, 1);
    t.equal((await store.recent(everyLine(), AT - 1, 10)).length, 3);
    t.equal((await store.recent(everyLine(), AT + 1, 10)).length, 2);
    await store.purge(everyLine(), AT + 500 * 24 * HOUR_MS);
    t.strictSame(await list(), []);
  });

  t.test('rules and block lists are kept', async (t) => {
    const { rules } = await openStore(t, newDatabase);
    await rules.set(everyLine(), 'r', { yaml: 'a: 1', enabled: 1 }, AT);
    await rules.set(everyLine(), 'r', { enabled: 0 }, AT);
    t.match(await rules.list(everyLine()), [{ id: 'r', yaml: 'a: 1', enabled: 0, matches: 0 }]);
    await rules.remove(everyLine(), 'r');
    t.strictSame(await rules.list(everyLine()), []);
    const row = { name: 'drop', url: 'https://example.org', path: null, refresh_minutes: 60, created_at: AT };
    await rules.setBlockList(everyLine(), row);
    await rules.setBlockList(everyLine(), { ...row, refresh_minutes: 5 });
    t.strictSame(await rules.blockLists(everyLine()), [{ ...row, refresh_minutes: 5 }]);
    t.equal(await rules.removeBlockList(everyLine(), 'drop'), true);
    t.equal(await rules.removeBlockList(everyLine(), 'drop'), false);
  });
}

onEachDatabase(testIncidents);

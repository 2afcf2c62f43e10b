/** Incidents on disk. An alert counts once, whatever is read again. */
import type { Kysely } from 'kysely';
import type { Events } from '../../../platform/events/index.ts';
import type { StorageAccess, SystemScope } from '../../../platform/storage/index.ts';
import { newTimeOrderedId } from '../../../platform/time-ordered-id.ts';
import { incidentChanged, incidentOpened } from './events.ts';
import { INCIDENT_WINDOW_MS, type IncidentState, mayBecome, type Verdict, worse } from './incident.ts';
import type { Alert } from './rule-set.ts';
import type { DetectionStorage, IncidentRow } from './tables.ts';

type Tables = DetectionStorage extends StorageAccess<infer T> ? T : never;

/** An alert with the block lists that name one of its addresses. */
export interface MarkedAlert extends Alert {
  marks: readonly string[];
}

interface IncidentPage {
  after: string;
  limit: number;
  state?: IncidentState | undefined;
}

const MOST_UUIDS = 100;
const MOST_MARKS = 20;
const ROWS_A_STATEMENT = 100;
/** Lines that are read again are not older. */
const ALERTS_KEPT_MS = 10 * 24 * 3_600_000;
const INCIDENTS_KEPT_MS = 400 * 24 * 3_600_000;

export class IncidentStore {
  readonly #storage: DetectionStorage;
  readonly #events: Events;

  constructor(storage: DetectionStorage, events: Events) {
    this.#storage = storage;
    this.#events = events;
  }

  /** All of them, or none. Returns the alerts that are new, and the ids of incidents that began or were opened again. */
  async record(
    everyone: SystemScope,
    alerts: readonly MarkedAlert[],
    nowMs: number,
  ): Promise<{ nNew: number; opened: string[] }> {
    return await this.#storage.write(everyone, async (tx) => {
      const fresh = await this.#insertNew(tx, alerts);
      const opened: string[] = [];
      const groups = Map.groupBy(fresh, ({ family, entity }) => `${family}\n${entity}`);
      for (const group of groups.values()) {
        const id = await this.#group(
          tx,
          everyone,
          group.toSorted((a, b) => a.atMs - b.atMs),
          nowMs,
        );
        if (id !== undefined) opened.push(id);
      }
      for (const [rule, found] of Map.groupBy(fresh, (alert) => alert.rule)) {
        const matches = sumOf(found);
        await tx
          .insertInto('logs_rules')
          .values({ id: rule, yaml: null, enabled: 1, matches, updated_at: nowMs })
          .onConflict((conflict) =>
            conflict.column('id').doUpdateSet((eb) => ({ matches: eb('logs_rules.matches', '+', matches) })),
          )
          .execute();
      }
      return { nNew: sumOf(fresh), opened };
    });
  }

  /** Newest first. */
  list(everyone: SystemScope, { after, limit, state }: IncidentPage): Promise<IncidentRow[]> {
    return this.#storage.read(everyone, (db) => {
      let query = db.selectFrom('logs_incidents').selectAll().orderBy('id', 'desc').limit(limit);
      if (after !== '') query = query.where('id', '<', after);
      if (state !== undefined) query = query.where('state', '=', state);
      return query.execute();
    });
  }

  /** Those that last, and those that ended since. */
  recent(everyone: SystemScope, sinceMs: number, limit: number): Promise<IncidentRow[]> {
    return this.#storage.read(everyone, (db) =>
      db
        .selectFrom('logs_incidents')
        .selectAll()
        .where((eb) => eb.or([eb('state', '!=', 'closed'), eb('closed_at', '>=', sinceMs)]))
        .orderBy('last_alert_at', 'desc')
        .limit(limit)
        .execute(),
    );
  }

  /** Undefined: there is none. `refused`: the state that does not lead there. */
  async change(
    everyone: SystemScope,
    id: string,
    { state, verdict }: { state: IncidentState; verdict: Verdict | null },
    nowMs: number,
  ): Promise<IncidentRow | { refused: IncidentState } | undefined> {
    return await this.#storage.write(everyone, async (tx) => {
      const before = await tx.selectFrom('logs_incidents').selectAll().where('id', '=', id).executeTakeFirst();
      if (before === undefined) return undefined;
      if (!mayBecome(before.state, state)) return { refused: before.state };
      const isClosed = state === 'closed';
      const closedAt = isClosed ? (before.closed_at ?? nowMs) : null;
      const after: IncidentRow = { ...before, state, verdict: isClosed ? verdict : null, closed_at: closedAt };
      await tx
        .updateTable('logs_incidents')
        .set({ state: after.state, verdict: after.verdict, closed_at: after.closed_at })
        .where('id', '=', id)
        .execute();
      await this.#events.record(tx, everyone, incidentChanged, { id, state, verdict: after.verdict }).execute();
      return after;
    });
  }

  async purge(everyone: SystemScope, nowMs: number): Promise<void> {
    await this.#storage.writeUnit(everyone, (db) => [
      db.deleteFrom('logs_alerts').where('at', '<', nowMs - ALERTS_KEPT_MS),
      db.deleteFrom('logs_incidents').where('last_alert_at', '<', nowMs - INCIDENTS_KEPT_MS),
    ]);
  }

  /** Returns those that were not recorded before. */
  async #insertNew(tx: Kysely<Tables>, alerts: readonly MarkedAlert[]): Promise<MarkedAlert[]> {
    const byKey = new Map(alerts.map((alert) => [`${alert.rule}\n${alert.uuid}`, alert]));
    const rows = [...byKey.values()].map(({ rule, uuid, atMs }) => ({ rule, uuid, at: atMs }));
    const fresh: MarkedAlert[] = [];
    for (let i = 0; i < rows.length; i += ROWS_A_STATEMENT) {
      const inserted = await tx
        .insertInto('logs_alerts')
        .values(rows.slice(i, i + ROWS_A_STATEMENT))
        .onConflict((conflict) => conflict.columns(['rule', 'uuid']).doNothing())
        .returning(['rule', 'uuid'])
        .execute();
      for (const { rule, uuid } of inserted) fresh.push(byKey.get(`${rule}\n${uuid}`) as MarkedAlert);
    }
    return fresh;
  }

  /** Adds alerts of one family and entity to their incident, in the order of time. Returns its id where it began or was opened again. */
  async #group(
    tx: Kysely<Tables>,
    everyone: SystemScope,
    alerts: readonly MarkedAlert[],
    nowMs: number,
  ): Promise<string | undefined> {
    const [first] = alerts;
    if (first === undefined) return undefined;
    const { family, entity } = first;
    const before = await tx
      .selectFrom('logs_incidents')
      .selectAll()
      .where('family', '=', family)
      .where('entity', '=', entity)
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst();
    const joined = before !== undefined && takes(before, first.atMs, nowMs) ? before : undefined;
    const row = added(joined ?? newIncident(first, nowMs), alerts);
    const isOpened = joined === undefined || joined.state === 'closed';
    if (isOpened) Object.assign(row, { state: 'open', verdict: null, closed_at: null });
    if (joined === undefined) await tx.insertInto('logs_incidents').values(row).execute();
    else await tx.updateTable('logs_incidents').set(row).where('id', '=', row.id).execute();
    if (!isOpened) return undefined;
    const { id, rule, severity, author } = row;
    await this.#events.record(tx, everyone, incidentOpened, { id, rule, severity, author }).execute();
    return id;
  }
}

/** Whether an alert belongs to the incident: one that is closed takes it by when it was closed. */
function takes({ state, last_alert_at: lastMs, closed_at: closedMs }: IncidentRow, atMs: number, nowMs: number): boolean {
  if (state === 'closed') return nowMs - (closedMs ?? 0) <= INCIDENT_WINDOW_MS;
  return atMs - lastMs <= INCIDENT_WINDOW_MS;
}

function newIncident({ rule, family, entity, level, author, atMs }: MarkedAlert, nowMs: number): IncidentRow {
  return {
    id: `inc_${newTimeOrderedId(nowMs)}`,
    rule,
    family,
    entity,
    severity: level,
    author,
    state: 'open',
    verdict: null,
    opened_at: atMs,
    last_alert_at: atMs,
    closed_at: null,
    alerts: 0,
    uuids: '[]',
    marks: '[]',
  };
}

function added(incident: IncidentRow, alerts: readonly MarkedAlert[]): IncidentRow {
  const uuids = new Set([...(JSON.parse(incident.uuids) as string[]), ...alerts.flatMap((alert) => alert.uuids)]);
  const marks = new Set([...(JSON.parse(incident.marks) as string[]), ...alerts.flatMap((alert) => alert.marks)]);
  const authors = new Set([incident.author, ...alerts.map(({ author }) => author)].filter((author) => author !== ''));
  return {
    ...incident,
    severity: alerts.reduce((level, alert) => worse(level, alert.level), incident.severity),
    author: [...authors].join(', ').slice(0, 1_000),
    last_alert_at: Math.max(incident.last_alert_at, ...alerts.map(({ atMs }) => atMs)),
    alerts: incident.alerts + sumOf(alerts),
    uuids: JSON.stringify([...uuids].slice(-MOST_UUIDS)),
    marks: JSON.stringify([...marks].slice(0, MOST_MARKS)),
  };
}

function sumOf(alerts: readonly Alert[]): number {
  return alerts.reduce((sum, { count }) => sum + count, 0);
}

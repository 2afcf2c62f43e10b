/**
 * Lets nodes on one database share their quotas. Each writes what it used in the last minute, and what its running requests hold, and
 * reads the others' a moment later: until then it knows nothing of what another node admits, so that together they can use more than a quota by what the
 * other nodes admit in that time. Clocks of the nodes must agree to a second or so.
 */
import type { SystemScope } from '../../../platform/storage/index.ts';
import type { LimitedSubject } from '../limits/limited-subject.ts';
import { hasMinuteLimit, hasMonthLimit } from '../limits/quota-limits.ts';
import { WINDOW_MS } from '../limits/sliding-window.ts';
import type { MonthLoader, SubjectRegistry } from '../limits/subject-registry.ts';
import type { Amounts } from '../limits/subject-use.ts';
import type { RecentRow } from '../tables.ts';
import type { RecentStore } from './recent-store.ts';

interface SharedWindowsDeps {
  store: RecentStore;
  registry: SubjectRegistry;
  months: MonthLoader;
  everyone: SystemScope;
  nodeId(): string;
  now(): number;
}

const WINDOW_SLOT = 1;
const HELD_SLOT = 0;

export class SharedWindows {
  readonly #deps: SharedWindowsDeps;
  /** What was written last, so that a quiet node writes nothing. */
  readonly #published = new Map<string, string>();

  constructor(deps: SharedWindowsDeps) {
    this.#deps = deps;
  }

  /** Tells the others, and hears them. */
  async exchange(): Promise<void> {
    const { store, everyone, nodeId, registry, now } = this.#deps;
    const subjects = [...registry.all()];
    if (subjects.length === 0) return;
    await store.publish(everyone, this.#changedRows(subjects));
    const rows = await store.ofOthers(everyone, nodeId(), now() - WINDOW_MS);
    const bySubject = Map.groupBy(rows, ({ tenant, kind, subject }) => nameOf(tenant, kind, subject));
    for (const subject of subjects) {
      subject.use.othersMinute = amountsOf(bySubject.get(nameOf(subject.tenant, subject.kind, subject.id)) ?? []);
      if (hasMonthLimit(subject.limits)) await this.#deps.months.refreshOthers(subject, now());
    }
  }

  async removeOld(): Promise<void> {
    const { store, everyone, now } = this.#deps;
    await store.removeBefore(everyone, now() - 2 * WINDOW_MS);
  }

  #changedRows(subjects: readonly LimitedSubject[]): RecentRow[] {
    const now = this.#deps.now();
    return subjects
      .filter(({ limits }) => hasMinuteLimit(limits))
      .flatMap((subject) => {
        const rows = this.#rowsOf(subject, now);
        const name = nameOf(subject.tenant, subject.kind, subject.id);
        const said = rows.map(({ requests, tokens }) => `${requests} ${tokens}`).join(' ');
        // What did not change is written again before the others forget it.
        const stamp = `${said} ${Math.floor(now / (WINDOW_MS / 4))}`;
        const isNothing = rows.every(({ requests, tokens }) => requests + tokens === 0);
        if (this.#published.get(name) === stamp || (isNothing && !this.#published.has(name))) return [];
        if (isNothing) this.#published.delete(name);
        else this.#published.set(name, stamp);
        return rows;
      });
  }

  #rowsOf({ tenant, kind, id, use }: LimitedSubject, now: number): RecentRow[] {
    const shared = { tenant, kind, subject: id, node: this.#deps.nodeId(), updated_at: now };
    const { requests, tokens } = use.windows;
    return [
      { ...shared, slot: WINDOW_SLOT, requests: requests.sum(now), tokens: tokens.sum(now) },
      { ...shared, slot: HELD_SLOT, requests: 0, tokens: use.heldTokens },
    ];
  }
}

function amountsOf(rows: readonly RecentRow[]): Amounts {
  const sum = (measure: 'requests' | 'tokens') => rows.reduce((total, row) => total + row[measure], 0);
  return { requests: sum('requests'), tokens: sum('tokens'), cost: 0 };
}

function nameOf(tenant: string, kind: string, id: string): string {
  return `${kind} ${tenant} ${id}`;
}

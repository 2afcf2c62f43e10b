/** The tenants, users and keys that have limits, with what they have used. Those without are never looked up twice. */

import type { SystemScope } from '../../../platform/storage/index.ts';
import type { MeteredCaller } from '../metering-service.ts';
import type { SubjectKind } from '../tables.ts';
import type { UsageJournal } from '../usage/usage-journal.ts';
import type { EndedRequest, UsageStore } from '../usage/usage-store.ts';
import { monthStart } from './calendar-month.ts';
import type { LimitedSubject } from './limited-subject.ts';
import { hasMonthLimit, type QuotaLimits } from './quota-limits.ts';
import { SubjectUse } from './subject-use.ts';

/** The limits of a subject; undefined: it has none. */
type FindLimits = (tenant: string, kind: SubjectKind, id: string) => QuotaLimits | undefined;

export class SubjectRegistry {
  readonly #findLimits: FindLimits;
  readonly #uses = new Map<string, LimitedSubject>();

  constructor(findLimits: FindLimits) {
    this.#findLimits = findLimits;
  }

  /** Those that a request of the caller counts for. */
  of({ tenant, user, key }: MeteredCaller): LimitedSubject[] {
    const ids: [SubjectKind, string | undefined][] = [
      ['tenant', tenant],
      ['user', user],
      ['key', key],
    ];
    return ids.flatMap(([kind, id]) => (id === undefined ? [] : (this.find(tenant, kind, id) ?? [])));
  }

  find(tenant: string, kind: SubjectKind, id: string): LimitedSubject | undefined {
    const limits = this.#findLimits(tenant, kind, id);
    if (limits === undefined) return undefined;
    const name = `${kind} ${tenant} ${id}`;
    const known = this.#uses.get(name);
    if (known !== undefined) {
      known.limits = limits;
      return known;
    }
    const made = { tenant, kind, id, limits, use: new SubjectUse() };
    this.#uses.set(name, made);
    return made;
  }

  /** All that were asked for since the start. */
  all(): Iterable<LimitedSubject> {
    return this.#uses.values();
  }

  /** Removes subjects that have no limits any more. */
  prune(): void {
    for (const [name, { tenant, kind, id, use }] of this.#uses) {
      if (use.heldTokens === 0 && this.#findLimits(tenant, kind, id) === undefined) this.#uses.delete(name);
    }
  }
}

/** Reads what subjects with a limit by the month have used of it, when they are first asked for and when a month begins. */
interface MonthLoaderDeps {
  store: UsageStore;
  journal: UsageJournal;
  everyone: SystemScope;
  nodeId(): string;
}

export class MonthLoader {
  readonly #deps: MonthLoaderDeps;
  readonly #loading = new Map<LimitedSubject, Promise<void>>();

  constructor(deps: MonthLoaderDeps) {
    this.#deps = deps;
  }

  /** Undefined: all is known. Throws StorageError. */
  load(subjects: readonly LimitedSubject[], now: number): Promise<unknown> | undefined {
    const unknown = subjects.filter(({ limits, use }) => hasMonthLimit(limits) && !use.knowsMonth(now));
    if (unknown.length === 0) return undefined;
    return Promise.all(unknown.map((subject) => this.#loadOne(subject, now)));
  }

  /** What other nodes have written meanwhile. */
  async refreshOthers(subject: LimitedSubject, now: number): Promise<void> {
    const { others } = await this.#read(subject, monthStart(now));
    if (subject.use.knowsMonth(now)) subject.use.othersMonth = others;
  }

  #loadOne(subject: LimitedSubject, now: number): Promise<void> {
    const known = this.#loading.get(subject);
    if (known !== undefined) return known;
    const start = monthStart(now);
    // Between two writes, what this node has used is what the database says and what waits to be written.
    const loading = this.#deps.journal
      .between(async () => {
        const { own, others } = await this.#read(subject, start);
        for (const request of this.#deps.journal.unwritten) {
          if (!countsFor(request, subject)) continue;
          own.requests += 1;
          own.tokens += request.promptTokens + request.completionTokens;
          own.cost += request.provider?.costMicros ?? 0;
        }
        subject.use.setMonth(start, own, others);
      })
      .finally(() => this.#loading.delete(subject));
    this.#loading.set(subject, loading);
    return loading;
  }

  #read({ tenant, kind, id }: LimitedSubject, since: number) {
    const { store, everyone, nodeId } = this.#deps;
    return store.sumOf(everyone, { tenant, kind, id, since, node: nodeId() });
  }
}

function countsFor(request: EndedRequest, { tenant, kind, id }: LimitedSubject): boolean {
  if (request.tenant !== tenant) return false;
  return kind === 'tenant' || (kind === 'user' ? request.user_id : request.key_id) === id;
}

/** The tenants, users and keys that have limits, with what they have used. Those without are never looked up twice. */
import type { MeteredCaller } from '../metering-service.ts';
import type { SubjectKind } from '../tables.ts';
import type { LimitedSubject } from './limited-subject.ts';
import type { QuotaLimits } from './quota-limits.ts';
import { SubjectUse } from './subject-use.ts';

/** The limits of a subject; undefined: it has none. */
export type FindLimits = (tenant: string, kind: SubjectKind, id: string) => QuotaLimits | undefined;

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

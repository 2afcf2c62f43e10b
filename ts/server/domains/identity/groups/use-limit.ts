/** What one kind of restriction leaves to a caller, and how several meet: a name may be used when every one of them allows it. */
import type { Principal } from '../../../platform/http/principal.ts';
import { anyName, type NameFilter, type UseRules } from '../../../platform/module/use-rules.ts';
import { matchesAny } from './name-pattern.ts';

/** The kinds of things that groups grant and tokens are narrowed to. */
export const USE_KINDS = ['models', 'namespaces'] as const;
export type UseKind = (typeof USE_KINDS)[number];

/** By kind, names in which `*` stands for any characters; a kind that is absent: any name. */
export type UseLimit = Readonly<Record<string, readonly string[] | undefined>>;

export const UNLIMITED: UseLimit = Object.freeze({});

/** For example the groups of an account, or what a token was narrowed to. */
export interface LimitSource {
  limitOf(caller: Principal): UseLimit | Promise<UseLimit>;
}

export class LimitIntersection implements UseRules {
  readonly #sources: readonly LimitSource[];

  constructor(sources: readonly LimitSource[]) {
    this.#sources = sources;
  }

  /** At once where no source has to read anything: most requests wait for nothing. */
  of(caller: Principal, kind: string): NameFilter | Promise<NameFilter> {
    if (!(USE_KINDS as readonly string[]).includes(kind)) throw new RangeError(`nothing is limited by ${kind}`);
    const limits = this.#sources.map((source) => source.limitOf(caller));
    const isKnown = (limit: UseLimit | Promise<UseLimit>): limit is UseLimit => !(limit instanceof Promise);
    return limits.every(isKnown) ? intersect(limits, kind) : Promise.all(limits).then((known) => intersect(known, kind));
  }
}

function intersect(limits: readonly UseLimit[], kind: string): NameFilter {
  const lists = limits.flatMap((limit) => (limit[kind] === undefined ? [] : [limit[kind]]));
  return lists.length === 0 ? anyName : (name) => lists.every((patterns) => matchesAny(patterns, name));
}

/** What a credential itself is limited to, as capability tokens are. */
export const credentialLimits: LimitSource = {
  limitOf: ({ limits = UNLIMITED }) => limits,
};

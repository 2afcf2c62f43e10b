/** What one kind of restriction leaves to a caller, and how several meet: a name may be used when every one of them allows it. */
import type { Principal } from '../../../platform/http/principal.ts';
import { anyName, type NameFilter, type UseRules } from '../../../platform/module/use-rules.ts';
import { matchesAny } from './name-pattern.ts';

/** Names in which `*` stands for any characters; undefined: any name. */
export interface UseLimit {
  models: readonly string[] | undefined;
  namespaces: readonly string[] | undefined;
}

export const UNLIMITED: UseLimit = Object.freeze({ models: undefined, namespaces: undefined });

/** For example the groups of an account, or what a token was narrowed to. */
export interface LimitSource {
  limitOf(caller: Principal): UseLimit | Promise<UseLimit>;
}

type Kind = keyof UseLimit;

export class MeetingLimits implements UseRules {
  readonly #sources: readonly LimitSource[];

  constructor(sources: readonly LimitSource[]) {
    this.#sources = sources;
  }

  models(caller: Principal): NameFilter | Promise<NameFilter> {
    return this.#filter(caller, 'models');
  }

  namespaces(caller: Principal): NameFilter | Promise<NameFilter> {
    return this.#filter(caller, 'namespaces');
  }

  /** At once where no source has to read anything: most requests wait for nothing. */
  #filter(caller: Principal, kind: Kind): NameFilter | Promise<NameFilter> {
    const limits = this.#sources.map((source) => source.limitOf(caller));
    const isKnown = (limit: UseLimit | Promise<UseLimit>): limit is UseLimit => !(limit instanceof Promise);
    return limits.every(isKnown) ? meet(limits, kind) : Promise.all(limits).then((known) => meet(known, kind));
  }
}

function meet(limits: readonly UseLimit[], kind: Kind): NameFilter {
  const lists = limits.flatMap((limit) => (limit[kind] === undefined ? [] : [limit[kind]]));
  return lists.length === 0 ? anyName : (name) => lists.every((patterns) => matchesAny(patterns, name));
}

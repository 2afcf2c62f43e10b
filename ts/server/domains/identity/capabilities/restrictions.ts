/** What a block of a token limits. Blocks only ever take away: the token may do what all of them allow. */
import type { UseKind } from '../../../platform/module/use-rules.ts';
import type { UseLimit } from '../groups/group-limits.ts';

export interface Restrictions {
  /** Undefined: this block leaves them as they are. */
  scopes?: readonly string[] | undefined;
  /** Names of things by their kind; a kind that is absent stays as it is. */
  uses?: UseLimit | undefined;
  /** Unix milliseconds, a whole second. */
  expiresAt?: number | undefined;
}

/** By each list that a block may limit, the scopes and the registered kinds of things: the predicate of its checks. */
export type Predicates = ReadonlyMap<string, string>;

const SCOPES = 'scopes';
/** What blocks, and the bodies of routes, say beside the lists. */
const RESERVED = [SCOPES, 'scope', 'time', 'tenant', 'user', 'capability', 'token', 'id', 'parent'];

export function predicatesOf(kinds: readonly UseKind[]): Predicates {
  const isFree = (name: string): boolean => /^[a-z][a-z_]*$/.test(name) && !RESERVED.includes(name);
  const wrong = kinds.find(({ name, one }) => !isFree(name) || !isFree(one));
  if (wrong !== undefined) throw new Error(`a kind of things cannot be called ${wrong.name} and ${wrong.one} in tokens`);
  return new Map([[SCOPES, 'scope'], ...kinds.map(({ name, one }) => [name, one] as const)]);
}

export function listsOf({ scopes, uses }: Restrictions): UseLimit {
  return { [SCOPES]: scopes, ...uses };
}

export function restrictionTo({ scopes, ...uses }: UseLimit): Restrictions {
  return { scopes, uses };
}

/** What both allow. */
export function intersect(one: Restrictions, other: Restrictions): Restrictions {
  const expiresAt = Math.min(one.expiresAt ?? Number.POSITIVE_INFINITY, other.expiresAt ?? Number.POSITIVE_INFINITY);
  const [lists, others] = [listsOf(one), listsOf(other)];
  const names = new Set([...Object.keys(lists), ...Object.keys(others)]);
  return {
    ...restrictionTo(Object.fromEntries([...names].map((list) => [list, intersectLists(lists[list], others[list])]))),
    ...(Number.isFinite(expiresAt) && { expiresAt }),
  };
}

/** The lists of `wanted` that have members which `parent` lacks. */
export function listsBeyond(parent: Restrictions, wanted: Restrictions): string[] {
  const all = listsOf(parent);
  const isBeyond = ([list, names]: [string, readonly string[] | undefined]): boolean => {
    const allowed = all[list];
    return allowed !== undefined && names?.some((name) => !allowed.includes(name)) === true;
  };
  return Object.entries(listsOf(wanted))
    .filter(isBeyond)
    .map(([list]) => list);
}

/** The checks of a block, as Datalog. Names must match NAME_PATTERN. */
export function checksOf(predicates: Predicates, restrictions: Restrictions): string {
  const lists = listsOf(restrictions);
  const lines = [...predicates].flatMap(([list, predicate]) => {
    const names = lists[list];
    if (names === undefined) return [];
    return [`check if ${predicate}($${predicate}), [${names.map((name) => `"${name}"`).join(', ')}].contains($${predicate});`];
  });
  if (restrictions.expiresAt !== undefined) lines.push(`check if time($time), $time <= ${dateOf(restrictions.expiresAt)};`);
  return lines.join('\n');
}

/** Datalog's dates are whole seconds. */
export function dateOf(ms: number): string {
  return new Date(Math.floor(ms / 1000) * 1000).toISOString().replace('.000Z', 'Z');
}

function intersectLists(one: readonly string[] | undefined, other: readonly string[] | undefined): readonly string[] | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one.filter((name) => other.includes(name));
}

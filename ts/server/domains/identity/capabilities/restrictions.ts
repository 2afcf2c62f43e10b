/** What a block of a token limits. Blocks only ever take away: the token may do what all of them allow. */

export interface Restrictions {
  /** Undefined: this block leaves them as they are. */
  scopes?: readonly string[] | undefined;
  /** Ids of models. */
  models?: readonly string[] | undefined;
  /** Names of knowledge bases. */
  namespaces?: readonly string[] | undefined;
  /** Unix milliseconds, a whole second. */
  expiresAt?: number | undefined;
}

/** The predicate of the checks that limit each list. */
export const PREDICATES = { scopes: 'scope', models: 'model', namespaces: 'namespace' } as const;

export type LimitedList = keyof typeof PREDICATES;

const LISTS = Object.keys(PREDICATES) as LimitedList[];

/** What both allow. */
export function intersect(one: Restrictions, other: Restrictions): Restrictions {
  const expiresAt = Math.min(one.expiresAt ?? Number.POSITIVE_INFINITY, other.expiresAt ?? Number.POSITIVE_INFINITY);
  return {
    ...Object.fromEntries(LISTS.map((list) => [list, intersectLists(one[list], other[list])])),
    ...(Number.isFinite(expiresAt) && { expiresAt }),
  };
}

/** The lists of `wanted` that have members which `parent` lacks. */
export function listsBeyond(parent: Restrictions, wanted: Restrictions): LimitedList[] {
  return LISTS.filter((list) => {
    const allowed = parent[list];
    return allowed !== undefined && wanted[list]?.some((name) => !allowed.includes(name)) === true;
  });
}

/** The checks of a block, as Datalog. Names must match NAME_PATTERN. */
export function checksOf(restrictions: Restrictions): string {
  const lines = LISTS.flatMap((list) => {
    const names = restrictions[list];
    if (names === undefined) return [];
    const predicate = PREDICATES[list];
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

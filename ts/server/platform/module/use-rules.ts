/** Which things a caller may use, by their kind, as whoever knows groups and tokens tells it. */
import type { Principal } from '../http/principal.ts';

/** Whether a name may be used. Names that may not be are answered like unknown ones. */
export type NameFilter = (name: string) => boolean;

export interface UseRules {
  /**
   * Of the names of one kind, for example `models`. Answers at once for most callers; a promise where the groups of the caller have to be read first.
   * Throws for a kind that nothing can be limited by, since a misspelt one would allow everything.
   */
  of(caller: Principal, kind: string): NameFilter | Promise<NameFilter>;
}

export const anyName: NameFilter = () => true;

/** Everybody may use everything, as on a node without accounts. */
export const NO_LIMITS: UseRules = { of: () => anyName };

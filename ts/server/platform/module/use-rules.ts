/** Which things a caller may use, by their kind, as whoever knows groups and tokens tells it. */
import type { Principal } from '../http/principal.ts';

/** Whether a name may be used. Names that may not be are answered like unknown ones. */
export type NameFilter = (name: string) => boolean;

/** A kind of things that groups grant and capability tokens are narrowed to. The module that has the things registers it. */
export interface UseKind {
  /** Many of them: `models` are granted by groups, and limited by tokens. */
  readonly name: string;
  /** One of them: `model_access` of a tenant, and `model` in the checks of a token. */
  readonly one: string;
  /** One and many of them in a sentence. */
  readonly labels: readonly [one: string, many: string];
  /** What groups and tenants call them at the command line, where it is neither of the names. */
  readonly word?: string;
  /** Names as people write them, for an empty field. */
  readonly example: string;
}

export interface UseRules {
  /**
   * Of the names of one kind, for example `models`. Answers at once for most callers; a promise where the groups of the caller have to be read first.
   * Throws for a kind that no module registered, since a misspelt one would allow everything.
   */
  of(caller: Principal, kind: string): NameFilter | Promise<NameFilter>;
}

export const anyName: NameFilter = () => true;

/** Everybody may use everything, as on a node without accounts. */
export const NO_LIMITS: UseRules = { of: () => anyName };

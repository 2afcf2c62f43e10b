/** Which models and knowledge bases a caller may use, as whoever knows groups and tokens tells it. */
import type { Principal } from '../http/principal.ts';

/** Whether a name may be used. Names that may not be are answered like unknown ones. */
export type NameFilter = (name: string) => boolean;

/** Answers at once for most callers; a promise where the groups of the caller have to be read first. */
export interface UseRules {
  /** Of ids of models. */
  models(caller: Principal): NameFilter | Promise<NameFilter>;
  /** Of namespaces, which are the names of knowledge bases within the caller's tenant. */
  namespaces(caller: Principal): NameFilter | Promise<NameFilter>;
}

export const anyName: NameFilter = () => true;

/** Everybody may use everything, as on a node without accounts. */
export const NO_LIMITS: UseRules = { models: () => anyName, namespaces: () => anyName };

/** The node as modules see it: what it is, where its things lie, which modules and roles run, and whether it takes work. */
import type { HealthReport, NotReady } from '../module/module.ts';
import type { ModuleName, Role } from '../module/module-names.ts';

export interface Node {
  readonly version: string;
  /** Folder that the program is installed in. */
  readonly installRoot: string;
  /** Folder of everything that must survive a restart. */
  readonly dataDir: string;
  /** `off` while the node has no account and belongs to no cluster. */
  auth(): 'off' | 'enforce';
  /** Modules that run now. */
  modules(): readonly ModuleName[];
  /** What each running module says of itself. */
  health(): Promise<ReadonlyMap<ModuleName, HealthReport>>;
  /** Why the node takes no work, if so. */
  notReady(): NotReady | undefined;
  roles(): readonly RoleState[];
  /** Starts or stops the modules of a role, and remembers it for the next start. */
  setRole(role: Role, enabled: boolean): Promise<void>;
}

export interface RoleState {
  role: Role;
  enabled: boolean;
  /** Modules of this program that the role runs; empty: the program has none yet. */
  modules: readonly ModuleName[];
}

/** The node as modules see it: what it is, where its things lie, which modules and roles run, and whether it takes work. */
import type { ProposedSetting } from '../config/proposed-setting.ts';
import type { SavedSetting } from '../config/saved-settings.ts';
import type { RemovalHold } from '../files/removal-hold.ts';
import type { HealthReport, NotReady } from '../module/module.ts';
import type { ModuleName, Role } from '../module/module-names.ts';
import type { StateFile } from '../module/state-file.ts';

export interface Node {
  /** Stays the same over restarts; known once the node is open. */
  readonly id: string;
  /** People call it so; two nodes of a cluster may have the same name. */
  readonly name: string;
  readonly version: string;
  /** Folder that the program is installed in. */
  readonly installRoot: string;
  /** Folder of everything that must survive a restart. */
  readonly dataDir: string;
  /** What the node and its modules keep in `dataDir` beside the database. */
  readonly stateFiles: readonly StateFile[];
  /** Removals of those files, which a backup holds up. */
  readonly removals: RemovalHold;
  /** Paths of the files that the configuration was read from. */
  readonly configFiles: readonly string[];
  /** `off` while the node has no account and belongs to no cluster. */
  auth(): 'off' | 'enforce';
  /** Modules that run now. */
  modules(): readonly ModuleName[];
  /** What each running module says of itself. */
  health(): Promise<ReadonlyMap<ModuleName, HealthReport>>;
  /** Why the node takes no work, if so. */
  notReady(): NotReady | undefined;
  roles(): readonly RoleState[];
  /** Every setting with its value, secrets masked. */
  settings(): readonly SavedSetting[];
  /** Every member of one section of a setting, whether the section names it or not; undefined: the setting has no sections. */
  settingSection(key: string, name: string): readonly SavedSetting[] | undefined;
  /** How a setting would be given another value; undefined: there is no such setting. Throws ConfigError. */
  proposeSetting(key: string, text: string): ProposedSetting | undefined;
  /** `key`: of a setting, or of a member of a section. For the next start, and at once where the setting is live; undefined: there is no such setting. Throws ConfigError, LockedSetting. */
  saveSetting(key: string, text: string): Promise<SavedSetting | undefined>;
  /** Undefined: there is no such setting. */
  forgetSetting(key: string): Promise<SavedSetting | undefined>;
  /** Ends the process after open answers had their time, with an exit code at which a service manager starts it again. */
  restart(reason: string): void;
  /** Whether knowledge bases lie on this node alone, so that nobody would find them without its role data. */
  holdsDocuments(): Promise<boolean>;
  /** Starts or stops the modules of a role, and remembers it for the next start. */
  setRole(role: Role, enabled: boolean): Promise<void>;
}

export interface RoleState {
  role: Role;
  enabled: boolean;
  /** Modules of this program that the role runs; empty: the program has none yet. */
  modules: readonly ModuleName[];
}

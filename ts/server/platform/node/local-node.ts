/** This process as a node: its roles and modules, and whether it takes work. */
import { hostname } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '../config/config-error.ts';
import type { ProposedSetting } from '../config/proposed-setting.ts';
import type { SavedSetting, SavedSettings } from '../config/saved-settings.ts';
import { listOf } from '../config/setting.ts';
import { RemovalHold } from '../files/removal-hold.ts';
import type { HealthReport, NotReady } from '../module/module.ts';
import type { ModuleHost } from '../module/module-host.ts';
import { type ModuleName, ROLES, type Role } from '../module/module-names.ts';
import type { StateFile } from '../module/state-file.ts';
import type { Integrity, Storage } from '../storage/index.ts';
import type { Node, RoleState } from './node.ts';
import { type NodeRecord, openNodeFile, writeNodeFile } from './node-file.ts';

interface LocalNodeOptions {
  /** Empty: that of the machine. */
  name: string;
  version: string;
  installRoot: string;
  dataDir: string;
  /** Roles separated by commas; empty: every role that a module of the program has. */
  configuredRoles: string;
  auth(): 'off' | 'enforce';
  stateFiles: readonly StateFile[];
  configFiles: readonly string[];
  storage: Pick<Storage, 'notReady'>;
  holdsDocuments(): Promise<boolean>;
  integrity: Pick<Integrity, 'isAwaited'>;
  settings: Pick<SavedSettings, 'list' | 'listSection' | 'save' | 'forget'>;
  proposeSetting(key: string, text: string): ProposedSetting | undefined;
}

const readyPollMs = 20;

export class LocalNode implements Node {
  readonly name: string;
  readonly version: string;
  readonly installRoot: string;
  readonly dataDir: string;
  readonly stateFiles: readonly StateFile[];
  readonly removals = new RemovalHold();
  readonly configFiles: readonly string[];
  isDraining = false;
  /** Settles with the reason once a module asks for a restart. */
  readonly restarting: Promise<string>;
  #restart: (reason: string) => void = () => undefined;
  readonly #options: LocalNodeOptions;
  readonly #file: string;
  #host: ModuleHost | undefined;
  #record: NodeRecord | undefined;
  #roles = new Set<Role>();
  #hasStarted = false;

  constructor(options: LocalNodeOptions) {
    this.name = options.name || hostname();
    this.version = options.version;
    this.installRoot = options.installRoot;
    this.dataDir = options.dataDir;
    this.stateFiles = options.stateFiles;
    this.configFiles = options.configFiles;
    this.#options = options;
    this.restarting = new Promise((resolve) => {
      this.#restart = resolve;
    });
    this.#file = join(options.dataDir, 'node.json');
  }

  /** Modules are made with a node and the node runs modules: the host comes once both exist. */
  attach(host: ModuleHost): void {
    this.#host = host;
  }

  /** The node's id, which stays the same over restarts. Throws before open(). */
  get id(): string {
    if (this.#record === undefined) throw new Error('the node is not open');
    return this.#record.id;
  }

  settings(): readonly SavedSetting[] {
    return this.#options.settings.list();
  }

  settingSection(key: string, name: string): readonly SavedSetting[] | undefined {
    return this.#options.settings.listSection(key, name);
  }

  saveSetting(key: string, text: string): Promise<SavedSetting | undefined> {
    return this.#options.settings.save(key, text);
  }

  forgetSetting(key: string): Promise<SavedSetting | undefined> {
    return this.#options.settings.forget(key);
  }

  proposeSetting(key: string, text: string): ProposedSetting | undefined {
    return this.#options.proposeSetting(key, text);
  }

  /** Reads what the node remembers of itself, and lets its modules begin with what needs no database. */
  async open(): Promise<void> {
    this.#record = await openNodeFile(this.#file);
    this.#roles = new Set(this.#record.roles ?? this.#configuredRoles());
    this.#modules.prepare([...this.#roles]);
  }

  /** Starts the modules of the saved roles, else of the configured ones. */
  async start(): Promise<void> {
    await this.#modules.start([...this.#roles]);
    this.#hasStarted = true;
  }

  restart(reason: string): void {
    this.#restart(reason);
  }

  /** Settles when nothing keeps the node from taking work. */
  async ready(): Promise<void> {
    while (this.notReady() !== undefined && !this.isDraining) {
      await new Promise((resolve) => setTimeout(resolve, readyPollMs));
    }
  }

  auth(): 'off' | 'enforce' {
    return this.#options.auth();
  }

  modules(): readonly ModuleName[] {
    return this.#modules.running;
  }

  health(): Promise<ReadonlyMap<ModuleName, HealthReport>> {
    return this.#modules.health();
  }

  notReady(): NotReady | undefined {
    if (this.isDraining) return { code: 'draining', detail: 'The server is shutting down.' };
    if (!this.#hasStarted) return { code: 'starting', detail: 'The node is starting; requests wait until it has.' };
    const storage = this.#options.storage.notReady();
    if (storage !== undefined) return { code: 'storage_unavailable', detail: storage };
    if (this.#options.integrity.isAwaited) return { code: 'starting', detail: 'The database file is being checked.' };
    return this.#modules.notReady();
  }

  roles(): readonly RoleState[] {
    return ROLES.map((role) => ({ role, enabled: this.#roles.has(role), modules: this.#modules.modulesOf(role) }));
  }

  holdsDocuments(): Promise<boolean> {
    return this.#options.holdsDocuments();
  }

  async setRole(role: Role, enabled: boolean): Promise<void> {
    await this.#modules.setRole(role, enabled);
    if (enabled) this.#roles.add(role);
    else this.#roles.delete(role);
    this.#record = { id: this.id, roles: [...this.#roles] };
    await writeNodeFile(this.#file, this.#record);
  }

  get #modules(): ModuleHost {
    if (this.#host === undefined) throw new Error('the node has no modules yet');
    return this.#host;
  }

  #configuredRoles(): Role[] {
    const names = listOf(this.#options.configuredRoles.toLowerCase());
    const unknown = names.find((name) => !(ROLES as readonly string[]).includes(name));
    if (unknown !== undefined) throw new ConfigError(`node.roles names ${unknown}, but must be some of ${ROLES.join(', ')}`);
    return names.length === 0 ? this.#modules.roles : (names as Role[]);
  }
}

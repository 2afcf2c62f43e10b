/** Plugins of the node: which there are, which a tenant enabled, and their tools. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TSchema } from 'typebox';
import type { DomainError } from '../../../platform/errors/domain-error.ts';
import { type Principal, scopeOf } from '../../../platform/http/principal.ts';
import type { Log } from '../../../platform/log/log.ts';
import type { HttpClient } from '../../../platform/network/http-client.ts';
import type { TenantScope } from '../../../platform/storage/index.ts';
import { defineTool, type ListedTool, type Tool } from '../../../platform/tools/tool.ts';
import { actorOf } from '../../identity/index.ts';
import { edgeError } from '../errors.ts';
import type { PluginRow } from '../tables.ts';
import { fetchForPlugin } from './plugin-fetch.ts';
import { fingerprintOf, PLUGIN_ID_PATTERN, PluginFault, type PluginFolder, readPluginFolder } from './plugin-folder.ts';
import { type PluginHost, PluginProcess } from './plugin-process.ts';
import type { PluginStore } from './plugin-store.ts';

interface PluginsOptions {
  /** The folder that holds theirs. */
  readonly folder: string;
  readonly store: PluginStore;
  readonly client: HttpClient;
  readonly userAgent: string;
  readonly log: Log;
  /** Why no program can be confined here; undefined: it can. */
  confinementMissing(): DomainError | undefined;
  now(): number;
}

type PluginState = 'disabled' | 'ready' | 'changed' | 'invalid' | 'unavailable';

export interface ListedPlugin {
  readonly id: string;
  /** Undefined: it is invalid, and `reason` says why. */
  readonly read: PluginFolder | undefined;
  readonly state: PluginState;
  readonly reason: string | undefined;
  /** The hash that was pinned; undefined: it is not enabled. */
  readonly enabledHash: string | undefined;
}

/** A folder as it was read last, which is read again when its fingerprint is another one. */
interface ReadPlugin {
  readonly fingerprint: string;
  readonly read: PluginFolder | undefined;
  readonly fault: string | undefined;
  readonly tools: readonly Tool[];
}

interface RunningPlugin {
  readonly process: PluginProcess;
  idleTimer: NodeJS.Timeout | undefined;
}

interface PluginCall {
  readonly tool: string;
  readonly args: unknown;
  readonly signal: AbortSignal;
}

const IDLE_MS = 5 * 60 * 1000;
const MAX_CALL_SECONDS = 60;
const ID = new RegExp(PLUGIN_ID_PATTERN);

export class Plugins {
  readonly #options: PluginsOptions;
  readonly #read = new Map<string, ReadPlugin>();
  /** By tenant, id and hash. */
  readonly #running = new Map<string, RunningPlugin>();

  constructor(options: PluginsOptions) {
    this.#options = options;
  }

  async list(scope: TenantScope): Promise<ListedPlugin[]> {
    const enabled = new Map((await this.#options.store.listEnabled(scope)).map(({ id, hash }) => [id, hash]));
    return this.#ids().map((id) => this.#listed(id, enabled.get(id)));
  }

  /** Throws `plugin_not_found`, `plugin_invalid`, `plugin_changed` where `hash` is of other files, and `confinement_missing`. */
  async enable(caller: Principal, id: string, hash: string | undefined): Promise<PluginFolder> {
    const { store, confinementMissing, now } = this.#options;
    const { read, fault } = this.#find(id);
    if (read === undefined) throw edgeError('plugin_invalid', `${id} is no whole plugin: ${fault}.`);
    if (hash !== undefined && hash !== read.hash) throw pluginChanged(id);
    const missing = confinementMissing();
    if (missing !== undefined) throw missing;
    const row = { id, hash: read.hash, enabled_at: now(), enabled_by: actorOf(caller) };
    await store.enable(scopeOf(caller), row);
    return read;
  }

  /** Its values stay, for when it is enabled again. Throws `plugin_not_found`. */
  async disable(scope: TenantScope, id: string): Promise<string | undefined> {
    const { read } = this.#find(id);
    await this.#options.store.disable(scope, id);
    this.#endWhere((key) => key.startsWith(`${scope.tenant} ${id} `));
    return read?.hash;
  }

  /** The tools of those that the tenant enabled. */
  tools(enabled: readonly Pick<PluginRow, 'id' | 'hash'>[]): ListedTool[] {
    return enabled.flatMap(({ id, hash }) => {
      const known = this.#readIfThere(id);
      return (known?.tools ?? []).map((tool): ListedTool => {
        const refusal = known?.read?.hash === hash ? this.#options.confinementMissing() : pluginChanged(id);
        return { tool, module: 'edge', isRunning: refusal === undefined, ...(refusal !== undefined && { refusal }) };
      });
    });
  }

  close(): void {
    this.#endWhere(() => true);
  }

  #ids(): string[] {
    const { folder } = this.#options;
    return existsSync(folder)
      ? readdirSync(folder)
          .filter((name) => ID.test(name))
          .sort()
      : [];
  }

  #listed(id: string, enabledHash: string | undefined): ListedPlugin {
    const { read, fault } = this.#find(id);
    const missing = this.#options.confinementMissing();
    const about = { id, read, enabledHash };
    if (read === undefined) return { ...about, state: 'invalid', reason: fault };
    if (enabledHash === undefined) return { ...about, state: 'disabled', reason: undefined };
    if (enabledHash !== read.hash) return { ...about, state: 'changed', reason: pluginChanged(id).message };
    if (missing !== undefined) return { ...about, state: 'unavailable', reason: missing.message };
    return { ...about, state: 'ready', reason: undefined };
  }

  #find(id: string): ReadPlugin {
    const known = this.#readIfThere(id);
    if (known === undefined) throw edgeError('plugin_not_found', `There is no plugin ${id.slice(0, 32)} on this node.`);
    return known;
  }

  #readIfThere(id: string): ReadPlugin | undefined {
    const path = join(this.#options.folder, id);
    if (!ID.test(id) || !existsSync(path)) return undefined;
    try {
      const fingerprint = fingerprintOf(path);
      const before = this.#read.get(id);
      if (before?.fingerprint === fingerprint) return before;
      const read = readPluginFolder(path);
      if (read.manifest.id !== id) throw new PluginFault(`its manifest is that of ${read.manifest.id}`);
      const known = { fingerprint, read, fault: undefined, tools: this.#toolsOf(read) };
      this.#read.set(id, known);
      return known;
    } catch (error) {
      return { fingerprint: '', read: undefined, fault: (error as Error).message, tools: [] };
    }
  }

  #toolsOf(read: PluginFolder): Tool[] {
    const { id, name: title, tools, hosts = [] } = read.manifest;
    return tools.map(({ name, description, input, effect }) =>
      defineTool({
        name: `plugin.${id}.${name}`,
        description: `${description} (plugin ${title})`,
        input: input as unknown as TSchema,
        // What it reads at its hosts it may also tell them.
        effect: effect === 'read' && hosts.length > 0 ? 'external' : effect,
        scope: 'tools:use',
        maxSeconds: MAX_CALL_SECONDS,
        isUntrusted: true,
        run: async ({ caller, arguments: args }, signal) => await this.#call(scopeOf(caller), read, { tool: name, args, signal }),
      }),
    );
  }

  async #call(scope: TenantScope, read: PluginFolder, { tool, args, signal }: PluginCall): Promise<unknown> {
    const { id } = read.manifest;
    // The process reads its files when it starts, and may read more of them later.
    if (this.#readIfThere(id)?.read?.hash !== read.hash) throw pluginChanged(id);
    const key = `${scope.tenant} ${id} ${read.hash}`;
    const running = this.#running.get(key) ?? this.#start(scope, read, key);
    clearTimeout(running.idleTimer);
    try {
      return await running.process.call(tool, args, signal);
    } finally {
      if (running.process.isIdle) running.idleTimer = setTimeout(() => running.process.end(), IDLE_MS).unref();
    }
  }

  #start(scope: TenantScope, read: PluginFolder, key: string): RunningPlugin {
    const process = new PluginProcess(read, this.#hostFor(scope, read), () => this.#running.delete(key));
    const running: RunningPlugin = { process, idleTimer: undefined };
    if (!process.isOver) this.#running.set(key, running);
    return running;
  }

  #hostFor(scope: TenantScope, { manifest: { id, hosts = [] } }: PluginFolder): PluginHost {
    const { store, client, userAgent, log } = this.#options;
    return {
      fetch: (request) => fetchForPlugin({ client, hosts, userAgent }, request),
      get: (key) => store.get(scope, id, key),
      set: (key, value) => store.set(scope, id, key, value),
      delete: (key) => store.delete(scope, id, key),
      log: (text) => log.info('a plugin says', { plugin: id, tenant: scope.tenant, text }),
    };
  }

  #endWhere(isMeant: (key: string) => boolean): void {
    for (const [key, { process, idleTimer }] of [...this.#running]) {
      if (!isMeant(key)) continue;
      clearTimeout(idleTimer);
      process.end();
    }
  }
}

function pluginChanged(id: string) {
  return edgeError('plugin_changed', `The files of the plugin ${id} are not those that were enabled.`, { extra: { plugin: id } });
}

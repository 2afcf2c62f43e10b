/** Makes the modules, starts and stops them in tier order, switches roles, and answers for all of them. */
import { type Config, valuesOf } from '../config/config.ts';
import { DomainError } from '../errors/domain-error.ts';
import type { CorsHeaderNames } from '../http/access/cors.ts';
import type { ErrorBodyPrefix } from '../http/error-body.ts';
import { HttpError } from '../http/errors.ts';
import type { Principal } from '../http/principal.ts';
import type { Route } from '../http/route.ts';
import type { ModuleState } from '../http/routing/missing-route.ts';
import type { StopLimit } from '../stop-limit.ts';
import type { ListedTool } from '../tools/tool.ts';
import type { Belongings, Owner } from './belongings.ts';
import {
  type AnyModuleDefinition,
  type HealthReport,
  type Module,
  type ModuleDefinition,
  type NotReady,
  useKindsOf,
} from './module.ts';
import type { OptionalModule, PlatformServices } from './module-context.ts';
import { MODULES, type ModuleInfo, type ModuleName, moduleInfo, type Role } from './module-names.ts';
import { StartError } from './start-error.ts';

interface Row {
  readonly name: ModuleName;
  readonly role: Role | undefined;
  /** It runs while all of these do. */
  readonly needs: readonly Row[];
  readonly definition: AnyModuleDefinition;
  readonly module: Module;
  isRunning: boolean;
  /** It has begun what start() waits for, which a stop ends as well. */
  isPrepared: boolean;
}

export class ModuleHost {
  /** Lowest tier first. */
  readonly #rows: readonly Row[];
  /** Role switches run one after the other. */
  #lastSwitch: Promise<unknown> = Promise.resolve();

  private constructor(rows: readonly Row[]) {
    this.#rows = rows;
  }

  /** Does no I/O. Throws when two modules have one name, or one uses another that is not below it. */
  static async create(
    definitions: readonly AnyModuleDefinition[],
    config: Config,
    services: PlatformServices,
  ): Promise<ModuleHost> {
    requireOwnPaths(MODULES);
    const rows: Row[] = [];
    const useKinds = useKindsOf(definitions);
    const tierOf = ({ name }: AnyModuleDefinition): number => moduleInfo(name).tier;
    for (const definition of [...definitions].sort((a, b) => tierOf(a) - tierOf(b))) {
      const { name } = definition;
      if (rows.some((row) => row.name === name)) throw new Error(`the module ${name} is listed twice`);
      const module = await definition.create({
        ...services,
        useKinds,
        tools: async (caller) => {
          const lower = rows.filter((row) => tierOf(row.definition) < tierOf(definition));
          return (await Promise.all(lower.map((row) => toolsOf(row, caller)))).flat();
        },
        log: services.log.child({ module: name }),
        settings: valuesOf(config, definition.settings),
        use: (lower) => lowerRow(rows, definition, lower).module.api as never,
        useOptional: (lower) => optionalModule(lowerRow(rows, definition, lower)),
      });
      const { role, needs = [] } = moduleInfo(name);
      const needed = rows.filter((row) => needs.includes(row.name));
      rows.push({ name, role, needs: needed, definition, module, isRunning: false, isPrepared: false });
    }
    return new ModuleHost(rows);
  }

  /** The public interface of a module; undefined: the program does not have it. */
  // biome-ignore lint/suspicious/noExplicitAny: which settings it declares does not matter here
  find<Api>(definition: ModuleDefinition<any, Api>): Api | undefined {
    return this.#rows.find(({ name }) => name === definition.name)?.module.api as Api | undefined;
  }

  /** Of all modules; those of a module that is off answer 503. */
  get routes(): Route[] {
    return this.#rows.flatMap((row) => row.module.routes.map((route) => guarded(row, route)));
  }

  get errorBodies(): ErrorBodyPrefix[] {
    return this.#rows.flatMap((row) => row.module.errorBodies ?? []);
  }

  get corsHeaders(): CorsHeaderNames[] {
    return this.#rows.flatMap((row) => row.module.corsHeaders ?? []);
  }

  get guardedPaths(): string[] {
    return this.#rows.flatMap((row) => row.module.guardedPaths ?? []);
  }

  /** Modules that keep something of tenants and accounts, whether they run or not. */
  get owners(): Owner[] {
    const owned = this.#rows.flatMap(({ name, definition: { recordedAs = name }, module: { belongings } }) =>
      belongings ? { name: recordedAs, belongings } : [],
    );
    return [...Map.groupBy(owned, ({ name }) => name)].map(([name, parts]) => ({
      name,
      belongings: joined(parts.map(({ belongings }) => belongings).reverse()),
    }));
  }

  /** Internal ones are left out. */
  get running(): ModuleName[] {
    return this.#rows.filter(({ name, isRunning }) => isRunning && !moduleInfo(name).isInternal).map(({ name }) => name);
  }

  /** Roles that this program has modules for. */
  get roles(): Role[] {
    return [...new Set(this.#rows.flatMap(({ role }) => role ?? []))];
  }

  modulesOf(role: Role): ModuleName[] {
    return this.#rows.filter((row) => row.role === role && !moduleInfo(row.name).isInternal).map(({ name }) => name);
  }

  /** Lets the modules that start() will start begin with what needs no database. */
  prepare(roles: readonly Role[]): void {
    for (const row of this.#wanted(roles)) {
      row.module.prepare?.();
      row.isPrepared = row.module.prepare !== undefined;
    }
  }

  /** Starts the modules of these roles and those without one, lowest tier first. After a failure, those that ran are stopped again. */
  async start(roles: readonly Role[]): Promise<void> {
    try {
      for (const row of this.#wanted(roles)) await startRow(row);
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /**
   * Highest tier first. One that fails, or takes longer than the limit, does not keep the others from stopping; the first failure is thrown at
   * the end.
   */
  async stop(limit?: StopLimit): Promise<void> {
    const switched = this.#lastSwitch.catch(() => undefined);
    await (limit === undefined ? switched : limit.within('a switch of roles', () => switched));
    await stopRows(this.#rows, limit);
  }

  setRole(role: Role, enabled: boolean): Promise<void> {
    const rows = this.#rows.filter((row) => [row, ...row.needs].some((each) => each.role === role));
    const switched = this.#lastSwitch
      .catch(() => undefined)
      .then(async () => {
        if (!enabled) return stopRows(rows);
        for (const row of rows) if (row.needs.every(({ isRunning }) => isRunning)) await startRow(row);
      });
    this.#lastSwitch = switched;
    return switched;
  }

  async health(): Promise<ReadonlyMap<ModuleName, HealthReport>> {
    const running = this.#rows.filter(({ name, isRunning }) => isRunning && !moduleInfo(name).isInternal);
    return new Map(await Promise.all(running.map(async ({ name, module }) => [name, await module.health()] as const)));
  }

  notReady(): NotReady | undefined {
    for (const { isRunning, module } of this.#rows) {
      const reason = isRunning ? module.ready() : undefined;
      if (reason !== undefined) return reason;
    }
    return undefined;
  }

  #wanted(roles: readonly Role[]): Row[] {
    return this.#rows.filter((row) => [row, ...row.needs].every(({ role }) => role === undefined || roles.includes(role)));
  }

  /** The module that a first segment behind /api/v1/ belongs to. */
  readonly findModule = (segment: string): ModuleState | undefined => {
    const info = MODULES.find(({ paths }) => (paths as readonly string[]).includes(segment));
    if (info === undefined) return undefined;
    const row = this.#rows.find(({ name }) => name === info.name);
    const { dispatched = [] }: ModuleInfo = info;
    // A missing route below another of its paths is answered like one below no module.
    const isNamed = segment === info.name || dispatched.includes(segment);
    if (row?.isRunning) return isNamed ? { state: 'loaded', module: info.name } : undefined;
    return { state: 'unavailable', reason: row === undefined ? `no node reports the module ${info.name}` : offReason(row) };
  };
}

/** Throws where two modules would answer below one path. */
export function requireOwnPaths(modules: readonly Pick<ModuleInfo, 'name' | 'paths'>[]): void {
  const owned = modules.flatMap(({ name, paths }) => paths.map((path) => ({ name, path })));
  for (const { name, path } of owned) {
    const other = owned.find((one) => one.path === path && one.name !== name);
    if (other !== undefined) throw new Error(`the modules ${name} and ${other.name} both have the path ${path}`);
  }
}

async function toolsOf({ name, module, isRunning }: Row, caller: Principal): Promise<ListedTool[]> {
  const ofCaller = isRunning ? await module.toolsFor?.(caller) : undefined;
  return [...(module.tools ?? []), ...(ofCaller ?? [])].map((tool) => ({ tool, module: name, isRunning }));
}

function lowerRow(rows: readonly Row[], user: AnyModuleDefinition, lower: AnyModuleDefinition): Row {
  const row = rows.find(({ name }) => name === lower.name);
  if (row !== undefined && moduleInfo(lower.name).tier < moduleInfo(user.name).tier) return row;
  throw new Error(`the module ${user.name} uses ${lower.name}, which is not in the list of modules or not of a lower tier`);
}

function optionalModule<Api>(row: Row): OptionalModule<Api> {
  return {
    get isRunning() {
      return row.isRunning;
    },
    get api() {
      if (row.isRunning) return row.module.api as Api;
      const { whenOff } = moduleInfo(row.name);
      if (whenOff === undefined) throw new Error(`the list of modules does not say what is refused while ${row.name} is off`);
      throw new DomainError(whenOff.code, whenOff.sentence, { retryAfterMs: 30_000 });
    },
    guard: (routes) => routes.map((route) => guarded(row, route)),
  };
}

/** Of modules that were one, those of higher tiers first. */
function joined(parts: readonly Belongings[]): Belongings {
  return {
    holdsAny: async (scope) => (await Promise.all(parts.map((part) => part.holdsAny?.(scope)))).includes(true),
    eraseTenant: async (scope) => {
      for (const part of parts) await part.eraseTenant(scope);
    },
    eraseAccount: async (everyone, accountId) => {
      for (const part of parts) await part.eraseAccount?.(everyone, accountId);
    },
    heldHere: async () => {
      const held = await Promise.all(parts.map((part) => part.heldHere?.()));
      return { tenants: held.flatMap((each) => each?.tenants ?? []), accounts: held.flatMap((each) => each?.accounts ?? []) };
    },
  };
}

async function startRow(row: Row): Promise<void> {
  if (row.isRunning) return;
  row.isPrepared = false;
  try {
    await row.module.start();
    row.isRunning = true;
  } catch (error) {
    await row.module.stop().catch(() => undefined);
    throw StartError.from(`the module ${row.name}`, error);
  }
}

async function stopRows(rows: readonly Row[], limit?: StopLimit): Promise<void> {
  const failures: unknown[] = [];
  for (const row of [...rows].reverse()) {
    if (!row.isRunning && !row.isPrepared) continue;
    row.isRunning = false;
    row.isPrepared = false;
    const stop = () => row.module.stop();
    const stopping = limit === undefined ? stop() : limit.within(`module ${row.name}`, stop);
    await stopping.catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}

function offReason({ name, role }: Row): string {
  return role === undefined ? `the module ${name} does not run` : `the role ${role} is switched off on this node`;
}

/** The name by which nodes tell that they run it: for an internal one, that of another module of its role. */
function shownName({ name, role }: Row): ModuleName {
  if (!moduleInfo(name).isInternal) return name;
  const others: readonly ModuleInfo[] = MODULES;
  return (others.find((other) => other.role === role && other.isInternal === undefined)?.name ?? name) as ModuleName;
}

function guarded(row: Row, route: Route): Route {
  // Probes are answered without a context, and only a module that always runs has some.
  if (route.probe === true) return route;
  return {
    ...route,
    answeredBy: {
      get module() {
        return shownName([...row.needs, row].find(({ isRunning }) => !isRunning) ?? row);
      },
      get isRunning() {
        return [...row.needs, row].every(({ isRunning }) => isRunning);
      },
    },
    handle: (context) => {
      const off = [...row.needs, row].find(({ isRunning }) => !isRunning);
      if (off === undefined) return route.handle(context);
      const detail = `The module ${off.name} is not available: ${offReason(off)}. \`svc roles\` shows the roles, and switches them.`;
      throw new HttpError(503, 'module_unavailable', detail, {
        extra: { module: off.name, reason: offReason(off) },
        headers: { 'retry-after': '30' },
      });
    },
  };
}

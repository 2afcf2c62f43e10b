/** Sends the lines of the log on: all of them to the node's server, those of a tenant to the tenant's own as well. */
import { join } from 'node:path';
import type { Log, LogLine } from '../../platform/log/log.ts';
import type { Counter, Family } from '../../platform/metrics/metrics.ts';
import type { MetricsRegistry } from '../../platform/metrics/registry.ts';
import type { HealthReport } from '../../platform/module/module.ts';
import type { TenantRules } from '../../platform/module/tenant-rules.ts';
import type { AddressPolicy } from '../../platform/network/address-policy.ts';
import { requireAllowed, type TlsFiles } from './connection.ts';
import { type CountedEvent, Destination, type DestinationLimits, type DestinationStats } from './destination.ts';
import { syslogError } from './errors.ts';
import { readSavedForwarding, type SavedForwarding, SYSLOG_FILE, writeSavedForwarding } from './saved-file.ts';
import { syslogLine } from './syslog-line.ts';
import {
  addressOf,
  changedTarget,
  DEFAULT_FACILITY,
  type GivenSetting,
  type GivenTarget,
  type NodeTarget,
  readTarget,
  type Target,
} from './target.ts';

export interface ForwardingDeps {
  dataDir: string;
  /** Reads the target that holds while nothing is saved. Throws StartError. */
  settings(): NodeTarget;
  files: TlsFiles;
  /** Judges the servers of tenants' routes. */
  policy: AddressPolicy;
  log: Log;
  metrics: MetricsRegistry;
  tenants: Pick<TenantRules, 'exists'>;
  limits: DestinationLimits;
}

export interface TestResult {
  destination: string;
  sent: boolean;
  error?: string;
}

const TEST_TEXT = 'syslog test';

export class Forwarding {
  readonly #deps: ForwardingDeps;
  readonly #path: string;
  readonly #counters: Readonly<Record<CountedEvent, Family<Counter>>>;
  readonly #node: Destination;
  readonly #routes = new Map<string, Destination>();
  #settings: NodeTarget | undefined;
  #facility = DEFAULT_FACILITY;
  #saved: SavedForwarding = { node: undefined, tenants: {} };
  /** The file lacks the last change. */
  #isUnsaved = false;
  #lastWrite: Promise<unknown> = Promise.resolve();
  #isRunning = false;
  #stopListening = () => {};
  /** Lines of the log that were made before the module first started are sent as well, once. */
  #hasSentEarlier = false;

  constructor(deps: ForwardingDeps) {
    this.#deps = deps;
    this.#path = join(deps.dataDir, SYSLOG_FILE);
    const count = (name: string, help: string) => deps.metrics.counter(name, help, ['to']);
    this.#counters = {
      sent: count('svc_syslog_sent_total', 'Log lines that were sent to syslog servers: the node’s, and tenants’ own.'),
      dropped: count('svc_syslog_dropped_total', 'Log lines that were not sent, since too many waited or a datagram failed.'),
      failed: count('svc_syslog_send_errors_total', 'Connections to syslog servers and datagrams that failed.'),
    };
    const queued = deps.metrics.gauge('svc_syslog_queued', 'Log lines that wait to be sent to syslog servers.', ['to']);
    this.#node = this.#destination('node');
    deps.metrics.onCollect(() => {
      queued.with({ to: 'node' }).set(this.#node.stats.queued);
      queued.with({ to: 'tenant' }).set([...this.#routes.values()].reduce((sum, { stats }) => sum + stats.queued, 0));
    });
  }

  async start(): Promise<void> {
    const { log, settings } = this.#deps;
    this.#settings = settings();
    const { problem, ...saved } = await readSavedForwarding(this.#path);
    if (problem !== undefined) log.warn(problem);
    this.#saved = saved;
    this.#isRunning = true;
    this.#apply();
    if (!this.#hasSentEarlier) for (const { json } of log.recent?.list() ?? []) this.#take(lineOf(json));
    this.#hasSentEarlier = true;
  }

  async stop(): Promise<void> {
    this.#isRunning = false;
    this.#stopListening();
    await Promise.all([this.#node, ...this.#routes.values()].map((destination) => destination.stop()));
    this.#routes.clear();
  }

  /** The setting that holds, saved or not. */
  get node(): NodeTarget & { source: 'saved' | 'environment' } {
    const { node } = this.#saved;
    return node === undefined ? { ...this.#ofSettings, source: 'environment' } : { ...node, source: 'saved' };
  }

  get tenants(): Readonly<Record<string, Target>> {
    return this.#saved.tenants;
  }

  /** Undefined: the tenant has none. */
  routeOf(tenant: string): { target: Target; stats: DestinationStats } | undefined {
    const target = this.#targetOf(tenant);
    const destination = this.#routes.get(tenant);
    return target && destination && { target, stats: destination.stats };
  }

  get stats(): DestinationStats & { tenants: Record<string, DestinationStats> } {
    const tenants = Object.fromEntries([...this.#routes].map(([tenant, { stats }]) => [tenant, stats]));
    return { ...this.#node.stats, tenants };
  }

  /** Holds at once. `tenants` takes the place of all routes. Throws DomainError, also where it holds and could not be saved. */
  async change(given: GivenSetting, tenants: Readonly<Record<string, GivenTarget>> | undefined): Promise<void> {
    const onlyRoutes = tenants !== undefined && Object.values(given).every((member) => member === undefined);
    const node = onlyRoutes ? this.#saved.node : changedTarget(given, this.node);
    const routes = tenants === undefined ? undefined : await this.#readRoutes(tenants);
    await this.#save((saved) => ({ node, tenants: routes ?? saved.tenants }));
  }

  /** Puts the settings of the machine into effect again. Tenants keep their routes. */
  async forget(): Promise<void> {
    await this.#save(({ tenants }) => ({ node: undefined, tenants }));
  }

  async setRoute(tenant: string, given: GivenTarget): Promise<void> {
    const routes = await this.#readRoutes({ [tenant]: given });
    await this.#save(({ node, tenants }) => ({ node, tenants: { ...tenants, ...routes } }));
  }

  /** False: the tenant has none. */
  async removeRoute(tenant: string): Promise<boolean> {
    const isThere = this.#targetOf(tenant) !== undefined;
    // One that could not be written as removed is still in the file.
    if (!isThere && !this.#isUnsaved) return false;
    await this.#save(({ node, tenants }) => ({
      node,
      tenants: Object.fromEntries(Object.entries(tenants).filter(([name]) => name !== tenant)),
    }));
    return isThere;
  }

  /** Over a connection of its own, so that it tells what is wrong while lines wait. `tenant`: along its route. Throws DomainError. */
  async test(tenant: string | undefined): Promise<TestResult> {
    const destination = tenant === undefined ? this.#node : this.#routes.get(tenant);
    const { target } = destination ?? {};
    if (destination === undefined || target === undefined)
      throw syslogError('syslog_not_configured', 'There is no syslog server to send a test line to.');
    const line = {
      time: new Date().toISOString(),
      level: 'info' as const,
      message: TEST_TEXT,
      fields: tenant === undefined ? {} : { tenant },
    };
    const error = await destination.sendNow(target, syslogLine(line, this.#facility));
    return { destination: addressOf(target), sent: error === undefined, ...(error !== undefined && { error }) };
  }

  /** Names no address, since anyone may read it. */
  health(): HealthReport {
    const { target } = this.#node;
    if (target === undefined) return { state: { forwarding: 'off' }, reasons: [] };
    const { failure, stats } = this.#node;
    const isUnverified = target.protocol === 'tls' && this.#deps.files.ca === '';
    const detail = `Log lines do not reach the syslog server; ${stats.queued} wait, ${stats.dropped_total} were dropped.`;
    const unseen = 'Log lines go to a syslog server under TLS whose certificate is not checked.';
    return {
      state: {
        forwarding: failure === undefined ? 'on' : 'failing',
        protocol: target.protocol,
        ...(target.protocol === 'tls' && { server_verified: !isUnverified }),
      },
      reasons: [
        ...(failure === undefined ? [] : [{ code: 'syslog_unreachable', detail }]),
        ...(isUnverified ? [{ code: 'syslog_unverified', detail: unseen }] : []),
      ],
    };
  }

  get #ofSettings(): NodeTarget {
    this.#settings ??= this.#deps.settings();
    return this.#settings;
  }

  #targetOf(tenant: string): Target | undefined {
    return Object.hasOwn(this.#saved.tenants, tenant) ? this.#saved.tenants[tenant] : undefined;
  }

  #destination(to: 'node' | 'tenant', tenant?: string): Destination {
    const { files, limits, log, policy } = this.#deps;
    const onCount = (event: CountedEvent, n: number): void => this.#counters[event].with({ to }).add(n);
    return new Destination({
      files,
      policy: to === 'tenant' ? policy : undefined,
      limits,
      log: tenant === undefined ? log : log.child({ tenant }),
      onCount,
    });
  }

  #take(line: LogLine): void {
    let text: string | undefined;
    const make = (): string => {
      text ??= syslogLine(line, this.#facility);
      return text;
    };
    this.#node.offer(make);
    const { tenant } = line.fields;
    if (typeof tenant === 'string') this.#routes.get(tenant)?.offer(make);
  }

  #apply(): void {
    const { target, isOn, facility } = this.node;
    this.#facility = facility;
    this.#node.retarget(isOn ? target : undefined);
    for (const [tenant, destination] of this.#routes) {
      if (this.#targetOf(tenant) !== undefined) continue;
      destination.retarget(undefined);
      this.#routes.delete(tenant);
    }
    for (const [tenant, own] of Object.entries(this.#saved.tenants)) {
      const destination = this.#routes.get(tenant) ?? this.#destination('tenant', tenant);
      this.#routes.set(tenant, destination);
      destination.retarget(isOn ? own : undefined);
    }
    this.#stopListening();
    const hasDestination = isOn && (target !== undefined || this.#routes.size > 0);
    // Most nodes forward nothing: their lines pass nobody.
    this.#stopListening = this.#isRunning && hasDestination ? this.#deps.log.listen((line) => this.#take(line)) : () => {};
  }

  async #readRoutes(given: Readonly<Record<string, GivenTarget>>): Promise<Record<string, Target>> {
    const read = Object.entries(given).map(async ([tenant, route]): Promise<[string, Target]> => {
      if (!(await this.#deps.tenants.exists(tenant)))
        throw syslogError('invalid_tenant_route', `There is no tenant ${tenant.slice(0, 128)}.`, { param: 'tenants' });
      return [tenant, readRoute(route, this.#deps.policy)];
    });
    return Object.fromEntries(await Promise.all(read));
  }

  /** One after the other, so that none loses what another has written. What cannot be written holds all the same. */
  async #save(change: (saved: SavedForwarding) => SavedForwarding): Promise<void> {
    this.#saved = change(this.#saved);
    this.#isUnsaved = true;
    this.#apply();
    const saved = this.#saved;
    const written = this.#lastWrite.then(() => writeSavedForwarding(this.#path, saved));
    this.#lastWrite = written.catch(() => undefined);
    try {
      await written;
      if (saved === this.#saved) this.#isUnsaved = false;
    } catch (cause) {
      const why = (cause as NodeJS.ErrnoException).code ?? (cause as Error).message;
      throw syslogError('syslog_config_not_saved', `The setting holds until the next start; it could not be saved: ${why}.`, {
        cause,
      });
    }
  }
}

/** Whatever is wrong with a route has one code. */
function readRoute(given: GivenTarget | null, policy: AddressPolicy): Target {
  const unknown = Object.keys(given ?? {}).find((name) => !['host', 'port', 'protocol'].includes(name));
  if (unknown !== undefined)
    throw syslogError('invalid_tenant_route', `A route has no member ${unknown.slice(0, 80)}.`, { param: 'tenants' });
  try {
    const target = readTarget(given ?? {});
    requireAllowed(policy, target);
    return target;
  } catch (cause) {
    throw syslogError('invalid_tenant_route', (cause as Error).message, { param: 'tenants', cause });
  }
}

/** A line as the log keeps it. */
function lineOf(json: string): LogLine {
  const { time, level, message, ...fields } = JSON.parse(json) as Pick<LogLine, 'time' | 'level' | 'message'>;
  return { time, level, message, fields };
}

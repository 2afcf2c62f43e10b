/** Devices of a tenant: made, changed, removed, and read. */
import type { DomainError } from '../../platform/errors/domain-error.ts';
import { type Principal, scopeOf } from '../../platform/http/principal.ts';
import type { TenantScope } from '../../platform/storage/index.ts';
import { newTimeOrderedId } from '../../platform/time-ordered-id.ts';
import type { IdentityApi } from '../identity/index.ts';
import type { LicenseApi } from '../license/index.ts';
import { checkProfile } from './check-profile.ts';
import type { StreamSockets } from './connectors/stream-sockets.ts';
import type { DeviceStore } from './device-store.ts';
import { iotError } from './errors.ts';
import type { History } from './history.ts';
import { type Connection, type Device, isReadable, type Value, type Variable } from './profile.ts';
import type { Quality } from './readings.ts';
import type { DeviceSession } from './session.ts';
import { type DeviceSessions, keyContext, originOf } from './sessions.ts';
import type { WriteRow } from './tables.ts';

interface DeviceServiceDeps {
  readonly store: DeviceStore;
  readonly sessions: DeviceSessions;
  readonly history: History;
  readonly sockets: StreamSockets;
  /** Throws `unsafe_address` for one that is not reached. */
  readonly http: { check(url: URL): void };
  readonly license: Pick<LicenseApi, 'requireFeature'>;
  readonly sealingKey: IdentityApi['sealingKey'];
  readonly nodeId: () => string;
  readonly now: () => number;
}

interface DeviceChanges {
  readonly name?: string | undefined;
  readonly enabled?: boolean | undefined;
  readonly connection?: Device['connection'] | undefined;
  readonly variables?: readonly Variable[] | undefined;
  /** Null forgets it. */
  readonly key?: string | null | undefined;
  /** This node has the connection from now on. */
  readonly here?: boolean | undefined;
}

/** The newest that is known of a variable, wherever the device is connected. */
export interface ReadAnswer {
  readonly device: Device;
  readonly variable: Variable;
  readonly value: Value | null;
  readonly at: number | null;
  readonly receivedAt: number | null;
  readonly quality: Quality;
}

/** A call that no route of the module's own makes may be a model's, which sees exposed variables alone. */
export interface CallBy {
  readonly caller: Principal;
  readonly isOwnRoute: boolean;
}

const RECENT_WRITES = 20;
/** A reading that is this young is not asked for again. */
const FRESH_MS = 250;

export class DeviceService {
  readonly #deps: DeviceServiceDeps;

  constructor(deps: DeviceServiceDeps) {
    this.#deps = deps;
  }

  list(caller: Principal): Promise<Device[]> {
    return this.#deps.store.list(scopeOf(caller));
  }

  async get(caller: Principal, id: string): Promise<Device> {
    const found = await this.#deps.store.find(scopeOf(caller), id);
    if (found === undefined) throw iotError('device_not_found', `There is no device ${JSON.stringify(id.slice(0, 60))}.`);
    return found;
  }

  sessionOf(device: Device): DeviceSession | undefined {
    return this.#deps.sessions.find(device);
  }

  recentWrites(caller: Principal, { id }: Device): Promise<WriteRow[]> {
    return this.#deps.store.recentWrites(scopeOf(caller), id, RECENT_WRITES);
  }

  async add(
    caller: Principal,
    profile: Pick<Device, 'name' | 'kind' | 'connection' | 'variables'>,
    key: string | undefined,
  ): Promise<Device> {
    const { license, nodeId, now } = this.#deps;
    license.requireFeature('iot');
    const made = {
      tenant: caller.tenant,
      id: `dev_${newTimeOrderedId()}`,
      ...profile,
      isEnabled: true,
      node: nodeId(),
      updatedAt: now(),
    };
    this.#check(made);
    const device = { ...made, ...(await this.#seal(made, key ?? null)) };
    await this.#save(scopeOf(caller), device);
    return device;
  }

  async change(caller: Principal, id: string, changes: DeviceChanges): Promise<Device> {
    const { nodeId, now, license } = this.#deps;
    const before = await this.get(caller, id);
    if (changes.enabled === true) license.requireFeature('iot');
    const {
      name = before.name,
      enabled = before.isEnabled,
      connection = before.connection,
      variables = before.variables,
    } = changes;
    const updatedAt = Math.max(now(), before.updatedAt + 1);
    const changed: Device = {
      ...before,
      name,
      connection,
      variables,
      isEnabled: enabled,
      updatedAt,
      ...(changes.here && { node: nodeId() }),
    };
    this.#check(changed);
    // A key that was given for one address never goes to another.
    const isElsewhere = originOf(connection) !== originOf(before.connection);
    if (isElsewhere && before.sealedKey !== null && changes.key === undefined)
      throw iotError('invalid_request', 'The device has another address: send its `key` again, or null.', { param: 'key' });
    const device = changes.key === undefined ? changed : { ...changed, ...(await this.#seal(changed, changes.key)) };
    await this.#save(scopeOf(caller), device);
    return device;
  }

  async remove(caller: Principal, id: string): Promise<void> {
    const { store, sessions, history } = this.#deps;
    await this.get(caller, id);
    history.forget(id);
    await store.remove(scopeOf(caller), id);
    await sessions.reconcile();
  }

  /** Asks the device where it is one that is asked. */
  async read(by: CallBy, deviceId: string, name: string): Promise<ReadAnswer> {
    const { history } = this.#deps;
    const device = await this.get(by.caller, deviceId);
    const variable = variableOf(device, name, by, isReadable);
    const session = this.sessionOf(device);
    if (session !== undefined) {
      await this.#refresh(session, [variable]);
      const { value, at, receivedAt, quality } = session.reading(variable);
      return { device, variable, value, at, receivedAt, quality };
    }
    // Another node is connected to it, so how things are now is not known here.
    const last = await history.lastSample(scopeOf(by.caller), device.id, name);
    const value = last?.value == null ? null : variable.type === 'boolean' ? last.value === 1 : last.value;
    return { device, variable, value, at: null, receivedAt: last?.at ?? null, quality: device.isEnabled ? 'stale' : 'offline' };
  }

  async #refresh(session: DeviceSession, variables: readonly Variable[]): Promise<void> {
    const { now } = this.#deps;
    const old = variables.filter((variable) => {
      const { receivedAt, quality } = session.reading(variable);
      return quality !== 'good' || receivedAt === null || now() - receivedAt > FRESH_MS;
    });
    if (old.length > 0) await session.refresh(old);
  }

  #check(device: Pick<Device, 'kind' | 'connection' | 'variables'>): void {
    checkProfile(device);
    const { kind, connection } = device;
    if (kind === 'http' || kind === 'homeassistant') this.#requireReachable(new URL((connection as Connection<'http'>).url));
    if (kind === 'modbus_tcp') {
      const { host, port = 502 } = connection as Connection<'modbus_tcp'>;
      this.#deps.sockets.check({ host, port, isSecure: false });
    }
    if (kind === 'mqtt') {
      const { protocol, hostname, port } = new URL((connection as Connection<'mqtt'>).url);
      const isSecure = protocol === 'mqtts:';
      this.#deps.sockets.check({ host: hostname, port: Number(port) || (isSecure ? 8883 : 1883), isSecure });
    }
  }

  #requireReachable(url: URL): void {
    try {
      this.#deps.http.check(url);
    } catch (error) {
      throw iotError('unsafe_address', `${(error as Error).message}.`, { param: 'connection.url', cause: error });
    }
  }

  async #save(scope: TenantScope, device: Device): Promise<void> {
    await this.#deps.store.save(scope, device);
    await this.#deps.sessions.reconcile();
  }

  async #seal(device: Pick<Device, 'tenant' | 'id' | 'kind' | 'connection'>, key: string | null) {
    if (key === null) return { sealedKey: null, sealedBy: null };
    const sealing = await this.#deps.sealingKey();
    return { sealedKey: sealing.seal(key, keyContext(device)), sealedBy: sealing.id };
  }
}

/** Throws `variable_not_found` where it is none that the call may use so. */
export function variableOf(
  device: Device,
  name: string,
  { isOwnRoute }: CallBy,
  isUsable: (variable: Variable) => boolean,
): Variable {
  const found = device.variables.find((variable) => variable.name === name);
  if (found === undefined || !isUsable(found) || !(isOwnRoute || found.exposed === true)) throw variableNotFound(name);
  return found;
}

export function variableNotFound(name: string): DomainError {
  return iotError('variable_not_found', `The device has no variable ${JSON.stringify(name.slice(0, 64))} for that.`);
}

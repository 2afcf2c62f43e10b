/** Devices of a tenant: made, read, and written within what their profiles allow. */
import type { DomainError } from '../../platform/errors/domain-error.ts';
import { hasRole, hasScope, type Principal, scopeOf } from '../../platform/http/principal.ts';
import type { TenantScope } from '../../platform/storage/index.ts';
import { newTimeOrderedId } from '../../platform/time-ordered-id.ts';
import { type AskingRule, hashOf, type OwnRule } from '../../platform/tools/tool.ts';
import { actorOf, type IdentityApi } from '../identity/index.ts';
import type { LicenseApi } from '../license/index.ts';
import { toolCallDenied } from '../security/index.ts';
import { checkProfile } from './check-profile.ts';
import { DeviceFailure } from './connectors/connector.ts';
import type { StreamSockets } from './connectors/stream-sockets.ts';
import type { DeviceStore } from './device-store.ts';
import { iotError } from './errors.ts';
import type { History } from './history.ts';
import { type Connection, type Device, isReadable, isWritable, type Value, type Variable } from './profile.ts';
import type { Quality } from './readings.ts';
import type { DeviceSession } from './session.ts';
import { type DeviceSessions, keyContext, originOf } from './sessions.ts';
import type { HaltRow, WriteRow } from './tables.ts';
import { isSameValue, requireWritableValue } from './values.ts';
import { changeOf, interlockFault, RATE_WINDOW_MS, rateFault } from './write-checks.ts';

interface IotServiceDeps {
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
  onWrite(device: Device, outcome: WriteOutcomeName): void;
}

type WriteOutcomeName = 'verified' | 'unverified' | 'refused' | 'failed' | 'unknown';

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

interface WriteRequest {
  readonly device_id: string;
  readonly variable: string;
  readonly value: unknown;
}

export interface WriteAnswer {
  readonly device: Device;
  readonly variable: Variable;
  readonly value: Value;
  readonly readBack: Value | null;
  readonly isVerified: boolean;
  readonly at: number;
}

/** A call that no route of the module's own makes may be a model's, which sees exposed variables alone. */
export interface CallBy {
  readonly caller: Principal;
  readonly isOwnRoute: boolean;
}

export const WRITE_SCOPE = 'iot:write';
const RECENT_WRITES = 20;
/** A reading that is this young is not asked for again. */
const FRESH_MS = 250;

export class IotService {
  readonly #deps: IotServiceDeps;

  constructor(deps: IotServiceDeps) {
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

  /** The rule of the variable that a call asks under. Undefined: none, or the call is refused anyway. */
  async approvalRule(by: CallBy, request: WriteRequest): Promise<AskingRule | undefined> {
    const device = await this.#deps.store.find(scopeOf(by.caller), request.device_id);
    const variable = device?.variables.find(({ name }) => name === request.variable);
    if (device === undefined || variable === undefined || refusalBefore(by, device, variable, request.value) !== undefined)
      return undefined;
    const rule = ruleOf(variable);
    return rule === undefined ? undefined : { rule, subject: subjectOf(device, variable, rule) };
  }

  /** Sends a value once, or refuses before a byte leaves. Throws the errors of the module and `tool_call_denied`. */
  async write(by: CallBy, request: WriteRequest, approved: OwnRule | undefined, signal: AbortSignal): Promise<WriteAnswer> {
    const device = await this.get(by.caller, request.device_id);
    const variable = device.variables.find(({ name }) => name === request.variable);
    const refusal =
      variable === undefined ? variableNotFound(request.variable) : refusalBefore(by, device, variable, request.value);
    if (refusal !== undefined || variable === undefined) {
      this.#deps.onWrite(device, 'refused');
      throw refusal;
    }
    const rule = ruleOf(variable);
    if (rule !== undefined && approved !== rule && approved !== 'second_person')
      throw iotError('approval_missing', `${variable.name} is written by approval (${variable.approval ?? 'none'}).`);
    try {
      return await this.#admit(by, device, variable, request.value as Value, signal);
    } catch (error) {
      if ((error as DomainError).code !== 'write_outcome_unknown') this.#deps.onWrite(device, 'refused');
      throw error;
    }
  }

  async halts(caller: Principal): Promise<HaltRow[]> {
    return await this.#deps.store.halts(caller.tenant);
  }

  /** A superadmin halts the writes of all tenants. */
  async halt(caller: Principal, reason: string): Promise<HaltRow[]> {
    const { store, now } = this.#deps;
    await store.halt(isOverAll(caller) ? undefined : caller.tenant, { reason, by_whom: actorOf(caller), at: now() });
    return await this.halts(caller);
  }

  async resume(caller: Principal): Promise<HaltRow[]> {
    await this.#deps.store.resume(isOverAll(caller) ? [undefined, caller.tenant] : [caller.tenant]);
    return await this.halts(caller);
  }

  /** Takes the device for one write. */
  async #admit({ caller }: CallBy, device: Device, variable: Variable, value: Value, signal: AbortSignal): Promise<WriteAnswer> {
    const session = this.sessionOf(device);
    if (!device.isEnabled) throw iotError('device_offline', `${device.name} is switched off.`);
    if (session === undefined)
      throw iotError('device_offline', `${device.name} is connected to another node, or not yet to this one.`);
    const taken = session.take();
    if (taken === undefined)
      throw iotError('write_rate_exceeded', `Another write to ${device.name} runs.`, { retryAfterMs: 1_000 });
    try {
      const locks = device.variables.filter(({ name }) => variable.interlocks?.some(({ variable: other }) => other === name));
      // Asked now: what was so a moment ago says nothing of a door.
      await session.refresh([...new Set([...locks, ...(isReadable(variable) ? [variable] : [])])]);
      if (!session.isConnected) throw iotError('device_offline', `${device.name} cannot be reached: ${session.reason}.`);
      const scope = scopeOf(caller);
      const change = await this.#requireRate(scope, session, variable, value);
      signal.throwIfAborted();
      return await this.#send(scope, caller, session, { variable, value, change });
    } finally {
      taken.release();
    }
  }

  /** Throws `write_rate_exceeded`, and `device_offline` where what the value was is not known. */
  async #requireRate(scope: TenantScope, session: DeviceSession, variable: Variable, value: Value): Promise<number> {
    const { store, now } = this.#deps;
    const { device } = session;
    const last = await store.lastWritten(scope, device.id, variable.name);
    const reading = isReadable(variable) ? session.reading(variable) : undefined;
    const isKnown = reading?.quality === 'good';
    if (variable.max_change_per_minute !== undefined && reading !== undefined && !isKnown)
      throw iotError(
        'device_offline',
        `What ${variable.name} is now is not known (${reading.quality}), so neither is how far it would move.`,
      );
    const before = isKnown ? (reading.value ?? undefined) : last === undefined ? undefined : (JSON.parse(last) as Value);
    const change = changeOf(before, value);
    const at = now();
    const moves = await store.movesSince(scope, device.id, variable.name, at - RATE_WINDOW_MS);
    const fault = rateFault(variable, change, moves, at);
    if (fault !== undefined) throw fault;
    return change;
  }

  async #send(
    scope: TenantScope,
    caller: Principal,
    session: DeviceSession,
    { variable, value, change }: { variable: Variable; value: Value; change: number },
  ): Promise<WriteAnswer> {
    const { store, now } = this.#deps;
    const { device } = session;
    const id = `wri_${newTimeOrderedId()}`;
    const about = {
      id,
      device: device.id,
      variable: variable.name,
      owner: ownerOf(caller),
      value: JSON.stringify(value),
      change,
    };
    await store.beginWrite(scope, { ...about, at: now() });
    const end = (state: WriteRow['state'], readBack: Value | null = null, isVerified = false) =>
      store.endWrite(scope, id, {
        state,
        read_back: readBack === null ? null : JSON.stringify(readBack),
        verified: isVerified ? 1 : 0,
        ended_at: now(),
      });
    // The last two questions come after the row, with nothing but the byte behind them: a halt, and the interlocks.
    const halted = (await store.halts(scope.tenant))[0];
    const refusal =
      halted === undefined
        ? interlockFault(variable, device.variables, (other) => session.reading(other))
        : iotError('writes_halted', `All writes are halted: ${halted.reason}`);
    if (refusal !== undefined) {
      await end('unsent');
      throw refusal;
    }
    const readBack = await session.write(variable, value).catch(async (error: unknown) => {
      throw await this.#failed(session, error, end);
    });
    const isVerified = readBack !== null && isSameValue(variable, value, readBack);
    await end('written', readBack, isVerified);
    this.#deps.onWrite(device, isVerified ? 'verified' : 'unverified');
    return { device, variable, value, readBack, isVerified, at: now() };
  }

  async #failed({ device }: DeviceSession, error: unknown, end: (state: WriteRow['state']) => Promise<void>): Promise<unknown> {
    const kind = error instanceof DeviceFailure ? error.kind : 'unknown';
    await end(kind);
    const reason = error instanceof DeviceFailure ? error.message : 'the connection failed';
    if (kind === 'unsent') return iotError('device_offline', `${device.name} cannot be reached: ${reason}.`, { cause: error });
    if (kind === 'refused') return iotError('device_failed', `${device.name} does not take it: ${reason}.`, { cause: error });
    this.#deps.onWrite(device, 'unknown');
    return iotError('write_outcome_unknown', `Whether ${device.name} took the value is not known: ${reason}.`, { cause: error });
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

/** Finds what keeps a call from being made at all, in every mode of enforcement. */
function refusalBefore(
  { caller, isOwnRoute }: CallBy,
  device: Device,
  variable: Variable,
  value: unknown,
): DomainError | undefined {
  const isOperator = caller.kind === 'anonymous';
  if (!isOperator && !(hasRole(caller, 'developer') && hasScope(caller, WRITE_SCOPE)))
    return toolCallDenied('iot.write', `Devices are written with the role developer and the scope ${WRITE_SCOPE}.`);
  try {
    variableOf(device, variable.name, { caller, isOwnRoute }, isWritable);
    requireWritableValue(variable, value);
  } catch (error) {
    return error as DomainError;
  }
  return undefined;
}

function variableOf(device: Device, name: string, { isOwnRoute }: CallBy, isUsable: (variable: Variable) => boolean): Variable {
  const found = device.variables.find((variable) => variable.name === name);
  if (found === undefined || !isUsable(found) || !(isOwnRoute || found.exposed === true)) throw variableNotFound(name);
  return found;
}

function variableNotFound(name: string): DomainError {
  return iotError('variable_not_found', `The device has no variable ${JSON.stringify(name.slice(0, 64))} for that.`);
}

function ruleOf({ approval = 'none' }: Variable): OwnRule | undefined {
  if (approval === 'none') return undefined;
  return approval === 'ask' ? 'own' : 'second_person';
}

/** Where the device and what is written of it are others, it is another act. */
function subjectOf({ id, kind, connection }: Device, variable: Variable, rule: string): string {
  return hashOf({ id, kind, connection, variable, rule });
}

function ownerOf(caller: Principal): string {
  return caller.subject === undefined ? actorOf(caller) : `user:${caller.subject}`;
}

function isOverAll(caller: Principal): boolean {
  return caller.kind === 'anonymous' || hasRole(caller, 'superadmin');
}

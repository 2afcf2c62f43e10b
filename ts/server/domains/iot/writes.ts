/** Writes to devices: each is admitted by every rule of its variable, sent once, and read back. */
import type { DomainError } from '../../platform/errors/domain-error.ts';
import { hasRole, hasScope, type Principal, scopeOf } from '../../platform/http/principal.ts';
import type { TenantScope } from '../../platform/storage/index.ts';
import { newTimeOrderedId } from '../../platform/time-ordered-id.ts';
import { type AskingRule, hashOf, type OwnRule } from '../../platform/tools/tool.ts';
import { actorOf } from '../identity/index.ts';
import { toolCallDenied } from '../security/index.ts';
import { DeviceFailure } from './connectors/connector.ts';
import type { DeviceStore } from './device-store.ts';
import { type CallBy, type DeviceService, variableNotFound, variableOf } from './devices.ts';
import { iotError } from './errors.ts';
import { type Device, isReadable, isWritable, type Value, type Variable } from './profile.ts';
import type { DeviceSession } from './session.ts';
import type { HaltRow, WriteRow } from './tables.ts';
import { isSameValue, requireWritableValue } from './values.ts';
import { changeOf, interlockFault, RATE_WINDOW_MS, rateFault } from './write-checks.ts';

interface WriteServiceDeps {
  readonly store: DeviceStore;
  readonly devices: Pick<DeviceService, 'get' | 'sessionOf'>;
  readonly now: () => number;
  onWrite(device: Device, outcome: WriteOutcomeName): void;
}

type WriteOutcomeName = 'verified' | 'unverified' | 'refused' | 'failed' | 'unknown';

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

export const WRITE_SCOPE = 'iot:write';

export class WriteService {
  readonly #deps: WriteServiceDeps;

  constructor(deps: WriteServiceDeps) {
    this.#deps = deps;
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
    const device = await this.#deps.devices.get(by.caller, request.device_id);
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
    const session = this.#deps.devices.sessionOf(device);
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

/** The sessions of all devices whose connection this node has. Rows of the database say which there are. */
import type { SealingKey } from '../../platform/crypto/sealing-key.ts';
import type { Log } from '../../platform/log/log.ts';
import type { HttpClient } from '../../platform/network/http-client.ts';
import { Repeater } from '../../platform/repeater.ts';
import { type Connector, type ConnectorDeps, DeviceFailure } from './connectors/connector.ts';
import { homeAssistant, httpDevice } from './connectors/http-devices.ts';
import { modbusTcp } from './connectors/modbus-tcp.ts';
import { mqtt } from './connectors/mqtt.ts';
import { simulated } from './connectors/simulated.ts';
import type { StreamSockets } from './connectors/stream-sockets.ts';
import type { DeviceStore } from './device-store.ts';
import { type Device, type DeviceKind, KINDS, type Variable } from './profile.ts';
import type { Reading } from './readings.ts';
import { DeviceSession } from './session.ts';

interface SessionsDeps {
  readonly store: DeviceStore;
  readonly nodeId: () => string;
  readonly http: HttpClient;
  readonly sockets: StreamSockets;
  readonly sealingKey: () => Promise<SealingKey>;
  readonly log: Log;
  readonly now: () => number;
  onReading(device: Device, variable: Variable, reading: Reading, badReason: string | undefined): void;
}

/** Another node may have changed a device of this one. */
const RECONCILE_MS = 5_000;

const CONNECTORS: Readonly<Record<DeviceKind, (deps: ConnectorDeps) => Connector>> = {
  simulated,
  http: httpDevice,
  homeassistant: homeAssistant,
  modbus_tcp: modbusTcp,
  mqtt,
};

export class DeviceSessions {
  readonly #deps: SessionsDeps;
  readonly #open = new Map<string, DeviceSession>();
  readonly #reconciler: Repeater;
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: SessionsDeps) {
    this.#deps = deps;
    this.#reconciler = new Repeater({
      intervalMs: RECONCILE_MS,
      run: () => this.reconcile(),
      onError: (error) => deps.log.warn('devices could not be looked up', { error: String(error) }),
    });
  }

  /** Resolves when every device of the node has a session; they connect beside what follows. */
  async start(): Promise<void> {
    await this.reconcile();
    this.#reconciler.start();
  }

  async stop(): Promise<void> {
    await this.#reconciler.stop();
    await this.#last.catch(() => undefined);
    await Promise.all([...this.#open.values()].map((session) => session.close()));
    this.#open.clear();
  }

  /** Undefined: the device is off, is another node's, or is not as the session knows it. */
  find({ id, updatedAt }: Device): DeviceSession | undefined {
    const session = this.#open.get(id);
    return session?.device.updatedAt === updatedAt ? session : undefined;
  }

  /** How many devices there are of each kind, connected and not. */
  counts(): { kind: DeviceKind; connected: number; offline: number }[] {
    const sessions = [...this.#open.values()];
    return KINDS.map((kind) => {
      const ofKind = sessions.filter(({ device }) => device.kind === kind);
      const connected = ofKind.filter(({ isConnected }) => isConnected).length;
      return { kind, connected, offline: ofKind.length - connected };
    });
  }

  /** Opens, changes and closes sessions until they are as the rows say. */
  reconcile(): Promise<void> {
    const run = this.#last.catch(() => undefined).then(() => this.#reconcile());
    this.#last = run;
    return run;
  }

  async #reconcile(): Promise<void> {
    const { store, nodeId } = this.#deps;
    const wanted = await store.changesOfNode(nodeId());
    for (const [id, session] of this.#open) {
      if (wanted.get(id) === session.device.updatedAt) continue;
      this.#open.delete(id);
      await session.close();
    }
    // Whole profiles are read of those alone that have no session: there may be thousands of devices.
    const missing = [...wanted.keys()].filter((id) => !this.#open.has(id));
    for (const device of await store.listOfNode(nodeId(), missing)) await this.#begin(device);
  }

  async #begin(device: Device): Promise<void> {
    const { http, sockets, log, now, onReading } = this.#deps;
    const key = await this.#keyOf(device);
    const session = new DeviceSession({
      device,
      log,
      now,
      onReading,
      connect: (about) =>
        key instanceof DeviceFailure ? withoutKey(about, key) : CONNECTORS[device.kind]({ ...about, key, http, sockets, now }),
    });
    this.#open.set(device.id, session);
    session.open();
  }

  async #keyOf(device: Device): Promise<string | undefined | DeviceFailure> {
    const { id, sealedKey, sealedBy } = device;
    if (sealedKey === null) return undefined;
    const sealing = await this.#deps.sealingKey();
    try {
      if (sealing.id === sealedBy) return sealing.unseal(sealedKey, keyContext(device));
    } catch (error) {
      this.#deps.log.error('the key of a device cannot be opened', { device: id, error });
    }
    return new DeviceFailure('unsent', 'its key was given to another node: give it to this one as well');
  }
}

/** A key is for the address that it was given for. */
export function keyContext({ tenant, id, kind, connection }: Pick<Device, 'tenant' | 'id' | 'kind' | 'connection'>): string {
  return `iot device ${id} of ${tenant} at ${kind} ${originOf(connection)}`;
}

export function originOf({ url, host, port }: Device['connection']): string {
  if (typeof url === 'string') return /^[a-z]+:\/\/[^/]+/.exec(url)?.[0] ?? url;
  return `${String(host ?? '')}:${String(port ?? '')}`;
}

/** A device whose key is not here is not reached. */
function withoutKey({ onState }: Pick<ConnectorDeps, 'onState'>, failure: DeviceFailure): Connector {
  return {
    pollMs: undefined,
    open: () => onState(false, failure.message),
    close: async () => {},
    write: async () => {
      throw failure;
    },
  };
}

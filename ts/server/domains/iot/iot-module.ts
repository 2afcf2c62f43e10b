/** Wires the iot module. */
import type { Module } from '../../platform/module/module.ts';
import type { ModuleContext } from '../../platform/module/module-context.ts';
import { AddressPolicy } from '../../platform/network/address-policy.ts';
import { allowedHostsOf } from '../../platform/network/allowed-host.ts';
import { HttpClient } from '../../platform/network/http-client.ts';
import { Repeater } from '../../platform/repeater.ts';
import type { SeriesSource } from '../../platform/series/series-registry.ts';
import type { TenantScope } from '../../platform/storage/index.ts';
import { identity } from '../identity/index.ts';
import { license } from '../license/index.ts';
import { security } from '../security/index.ts';
import { StreamSockets } from './connectors/stream-sockets.ts';
import { DeviceStore } from './device-store.ts';
import { DeviceService } from './devices.ts';
import { readingBad } from './events.ts';
import { History, HOUR_MS } from './history.ts';
import type { Device, Variable } from './profile.ts';
import type { Reading } from './readings.ts';
import { iotRoutes } from './routes.ts';
import { DeviceSessions } from './sessions.ts';
import type { iotSettings } from './settings.ts';
import { type IotStorage, oneDevice } from './tables.ts';
import { IotTools } from './tools.ts';
import { WriteService } from './writes.ts';

const DAY_MS = 24 * HOUR_MS;
/** Writes are shown for so long. */
const KEEP_WRITES_MS = 90 * DAY_MS;
/** A variable that is bad again and again is told of once in so long. */
const TELL_AGAIN_MS = 60_000;

/** Hours of a history at most. */
const MOST_HOURS = 10_000;

/** Hourly means of variables, `iot.DEVICE.VARIABLE` by the device's name. */
function variableSource(store: DeviceStore, history: History, now: () => number): SeriesSource {
  const named = async (scope: TenantScope) =>
    (await store.list(scope)).flatMap((device) =>
      device.variables.map((variable) => ({ name: `iot.${device.name}.${variable.name}`, device, variable })),
    );
  return {
    name: 'iot',
    list: async (scope) => (await named(scope)).map(({ name, variable }) => ({ name, unit: variable.unit ?? '' })),
    read: async (scope, wanted, since) => {
      const found = (await named(scope)).find(({ name }) => name === wanted);
      if (found === undefined) return undefined;
      const query = { device: found.device.id, variable: found.variable.name, from: since, to: now(), limit: MOST_HOURS };
      return (await history.hours(scope, query)).map(({ hour, mean }) => ({ ts: Number(hour), value: Number(mean) }));
    },
  };
}

export function createIot(context: ModuleContext<typeof iotSettings>): Module<undefined> {
  const { settings, node, log, metrics, events } = context;
  const { recordAct, sealingKey } = context.use(identity);
  const storage: IotStorage = context.storage.access();
  const store = new DeviceStore(storage);
  const now = (): number => Date.now();
  // It is known once the node is open.
  const nodeId = (): string => node.id;
  const allowed = allowedHostsOf('iot.allowed_hosts', settings['iot.allowed_hosts'], 'broker.lan:1883 or http://10.0.0.5');
  const http = new HttpClient({ policy: new AddressPolicy({ trusted: [], allowed }), connections: 4 });
  const sockets = new StreamSockets(allowed);
  const history = new History({
    storage,
    log,
    now,
    sampleMs: settings['iot.sample_seconds'] * 1000,
    keepSamplesMs: settings['iot.keep_days'] * DAY_MS,
    keepHoursMs: settings['iot.keep_hours_days'] * DAY_MS,
  });
  const readings = metrics.counter('svc_iot_readings_total', 'Readings of devices, by quality.', ['kind', 'quality']);
  const writeOutcomes = metrics.counter('svc_iot_writes_total', 'Writes to devices, by what came of them.', ['kind', 'outcome']);
  const connections = metrics.gauge('svc_iot_devices', 'Devices that this node connects to.', ['kind', 'state']);
  const toldAt = new Map<string, number>();
  const tellBad = (device: Device, { name }: Variable, reason: string): void => {
    const key = `${device.id} ${name}`;
    if (now() - (toldAt.get(key) ?? 0) < TELL_AGAIN_MS) return;
    toldAt.set(key, now());
    events
      .send(oneDevice(device), readingBad, { device_id: device.id, device: device.name, variable: name, reason })
      .catch((error: unknown) => log.warn('an event of a device could not be recorded', { error: String(error) }));
  };
  const onReading = (device: Device, variable: Variable, reading: Reading, badReason: string | undefined): void => {
    readings.with({ kind: device.kind, quality: reading.quality }).add();
    history.add(device, variable, reading);
    if (badReason !== undefined) tellBad(device, variable, badReason);
    // It is empty but for those that were bad of late.
    else if (toldAt.size > 0) toldAt.delete(`${device.id} ${variable.name}`);
  };
  const sessions = new DeviceSessions({ store, nodeId, http, sockets, sealingKey, log, now, onReading });
  metrics.onCollect(() => {
    for (const { kind, connected, offline } of sessions.counts()) {
      connections.with({ kind, state: 'connected' }).set(connected);
      connections.with({ kind, state: 'offline' }).set(offline);
    }
  });
  const service = new DeviceService({
    store,
    sessions,
    history,
    sockets,
    http: { check: (url) => new AddressPolicy({ trusted: [], allowed }).check(url) },
    license: context.use(license),
    sealingKey,
    nodeId,
    now,
  });
  context.series.register(variableSource(store, history, now));
  const onWrite = ({ kind }: Device, outcome: string): void => writeOutcomes.with({ kind, outcome }).add();
  const writes = new WriteService({ store, devices: service, now, onWrite });
  const tools = new IotTools(service, writes);
  const upkeep = new Repeater({
    intervalMs: HOUR_MS,
    run: () => store.removeWritesBefore(now() - KEEP_WRITES_MS),
    onError: (error) => log.warn('old writes of devices could not be removed', { error: String(error) }),
  });
  return {
    api: undefined,
    routes: iotRoutes({ service, writes, history, security: context.use(security), recordAct, nodeId, now }),
    toolsFor: (caller) => tools.of(caller),
    belongings: store,
    start: async () => {
      await store.endInterrupted(nodeId(), now());
      await sessions.start();
      history.start();
      upkeep.start();
    },
    stop: async () => {
      await Promise.all([sessions.stop(), upkeep.stop()]);
      await history.stop();
      await http.close();
    },
    health: () => ({
      state: { devices: sessions.counts().reduce((sum, { connected, offline }) => sum + connected + offline, 0) },
      reasons: [],
    }),
    ready: () => undefined,
  };
}

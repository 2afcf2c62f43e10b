/** Devices, readings, histories and halts. A write is a tool, which the module edge runs, also at /api/v1/iot/write. */
import { hasRole, scopeOf } from '../../platform/http/principal.ts';
import type { Route } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import { auditEntry, auditSource, type IdentityApi } from '../identity/index.ts';
import { featureErrors } from '../license/index.ts';
import { type SecurityApi, toolCallErrors } from '../security/index.ts';
import type { DeviceService } from './devices.ts';
import { iotError, iotErrors } from './errors.ts';
import type { History } from './history.ts';
import { type Device, isReadable } from './profile.ts';
import {
  AddDevice,
  ChangeDevice,
  DeviceId,
  DeviceList,
  DeviceShown,
  deviceBody,
  HaltBody,
  HaltShape,
  HistoryAsked,
  HistoryShape,
  haltBody,
  hourBody,
  ListedDevice,
  ReadingShape,
  ReadVariable,
  readingBody,
  sampleBody,
  shownDevice,
} from './schemas.ts';
import type { WriteService } from './writes.ts';

interface IotRouteDeps {
  readonly service: DeviceService;
  readonly writes: WriteService;
  readonly history: History;
  readonly security: Pick<SecurityApi, 'requireToolCall'>;
  readonly recordAct: IdentityApi['recordAct'];
  readonly nodeId: () => string;
  readonly now: () => number;
}

const DEVICES = '/api/v1/iot/devices';
const HALT = '/api/v1/iot/halt';
const DAY_MS = 24 * 3_600_000;
const DEFAULT_POINTS = 1_000;
/** A profile has up to 200 variables. */
const MAX_PROFILE_BYTES = 256 * 1024;

const { get, post } = routes({ tag: 'IoT', auth: 'viewer', scope: 'iot:read', errors: iotErrors });
const managed = routes({ tag: 'IoT', auth: 'admin', scope: 'tools:manage', maxBody: MAX_PROFILE_BYTES, errors: iotErrors });

export function iotRoutes(deps: IotRouteDeps): Route[] {
  return [...shownRoutes(deps), ...managedRoutes(deps), ...haltRoutes(deps), readRoute(deps), historyRoute(deps)];
}

function shownRoutes({ service, nodeId }: IotRouteDeps): Route[] {
  return [
    get(DEVICES, {
      summary: 'Devices of the tenant',
      answer: DeviceList,
      handle: async ({ caller }) => ({
        data: (await service.list(caller)).map((device) => deviceBody(device, service.sessionOf(device), nodeId())),
      }),
    }),
    get(`${DEVICES}/{id}`, {
      summary: 'A device with its profile, newest readings and last writes',
      description:
        'Readings of a device that another node is connected to are read there. `connection` is shown to administrators.',
      params: DeviceId,
      answer: DeviceShown,
      errors: ['device_not_found'],
      handle: async ({ caller, params }) => {
        const device = await service.get(caller, params.id);
        const session = service.sessionOf(device);
        const readings = session === undefined ? [] : device.variables.filter(isReadable).map((one) => session.reading(one));
        const isManager = caller.kind === 'anonymous' || hasRole(caller, 'admin');
        const shown = isManager ? device : { ...device, connection: {} };
        return shownDevice(shown, session, nodeId(), readings, await service.recentWrites(caller, device));
      },
    }),
  ];
}

function managedRoutes({ service, recordAct, nodeId }: IotRouteDeps): Route[] {
  const shown = (device: Device) => deviceBody(device, service.sessionOf(device), nodeId());
  return [
    managed.post(DEVICES, {
      summary: 'Add a device',
      description:
        'The node that is asked connects to it. `read` and `write` of variables depend on the kind; the docs have examples.',
      body: AddDevice,
      answer: ListedDevice,
      status: 201,
      errors: ['invalid_request', 'unsafe_address', 'device_exists', ...featureErrors],
      handle: async (context) => {
        const { key, ...profile } = context.body;
        const device = await service.add(context.caller, profile, key);
        const detail = { kind: device.kind, variables: device.variables.length };
        await recordAct(auditEntry(auditSource(context), { action: 'iot.device.add', target: device.id, detail }));
        return shown(device);
      },
    }),
    managed.patch(`${DEVICES}/{id}`, {
      summary: 'Change a device, or switch it on or off',
      description: 'Approvals that were asked for a variable that is changed hold no more.',
      params: DeviceId,
      body: ChangeDevice,
      answer: ListedDevice,
      errors: ['invalid_request', 'unsafe_address', 'device_exists', 'device_not_found', ...featureErrors],
      handle: async (context) => {
        const { caller, params, body } = context;
        const device = await service.change(caller, params.id, body);
        const detail = { changed: Object.keys(body) };
        await recordAct(auditEntry(auditSource(context), { action: 'iot.device.change', target: device.id, detail }));
        return shown(device);
      },
    }),
    managed.del(`${DEVICES}/{id}`, {
      summary: 'Remove a device with its history',
      params: DeviceId,
      errors: ['device_not_found'],
      handle: async (context) => {
        const { caller, params } = context;
        await service.remove(caller, params.id);
        await recordAct(auditEntry(auditSource(context), { action: 'iot.device.remove', target: params.id }));
      },
    }),
  ];
}

function haltRoutes({ writes, recordAct }: IotRouteDeps): Route[] {
  return [
    get(HALT, {
      summary: 'Whether writes to devices are halted',
      answer: HaltShape,
      handle: async ({ caller }) => haltBody(await writes.halts(caller)),
    }),
    managed.post(HALT, {
      summary: 'Refuse all writes to devices until an administrator ends it',
      description: 'Of the tenant; where a superadmin does it, of all tenants.',
      body: HaltBody,
      answer: HaltShape,
      handle: async (context) => {
        const rows = await writes.halt(context.caller, context.body.reason);
        await recordAct(auditEntry(auditSource(context), { action: 'iot.halt', detail: { reason: context.body.reason } }));
        return haltBody(rows);
      },
    }),
    managed.del(HALT, {
      summary: 'Let devices be written again',
      description: 'What a superadmin halted for all tenants, a superadmin ends; the answer of GET says what holds.',
      handle: async (context) => {
        await writes.resume(context.caller);
        await recordAct(auditEntry(auditSource(context), { action: 'iot.resume' }));
      },
    }),
  ];
}

function readRoute({ service, security, recordAct }: IotRouteDeps): Route {
  return post('/api/v1/iot/read', {
    summary: 'Read a variable of a device',
    description: 'A device that is asked is asked now; of others it is what came last. `quality` says how far it can be trusted.',
    body: ReadVariable,
    answer: ReadingShape,
    errors: ['device_not_found', 'variable_not_found', ...toolCallErrors],
    handle: async (context) => {
      const { caller, body } = context;
      security.requireToolCall(caller, 'iot.read');
      const read = await service.read({ caller, isOwnRoute: true }, body.device_id, body.variable);
      const detail = { variable: body.variable, quality: read.quality };
      await recordAct(auditEntry(auditSource(context), { action: 'iot.read', target: body.device_id, detail }));
      return readingBody(read);
    },
  });
}

function historyRoute({ service, history, now }: IotRouteDeps): Route {
  return get('/api/v1/iot/history', {
    summary: 'Samples of a variable, or its hourly means',
    description: 'Of the last day, or of `from` to `to`. Equally spaced series for forecasts are the hours.',
    query: HistoryAsked,
    answer: HistoryShape,
    errors: ['invalid_request', 'device_not_found', 'variable_not_found'],
    handle: async ({ caller, query }) => {
      const { device_id: id, variable: name, resolution = 'samples', limit = DEFAULT_POINTS } = query;
      const device = await service.get(caller, id);
      const variable = device.variables.find((one) => one.name === name && isReadable(one));
      if (variable === undefined) throw iotError('variable_not_found', `The device has no variable ${name} that is read.`);
      const to = query.to === undefined ? now() + 1 : Date.parse(query.to);
      const from = query.from === undefined ? to - DAY_MS : Date.parse(query.from);
      if (from > to) throw iotError('invalid_request', '`from` is later than `to`.', { param: 'from' });
      const asked = { device: id, variable: name, from, to, limit: limit + 1 };
      const data =
        resolution === 'hours'
          ? (await history.hours(scopeOf(caller), asked)).map(hourBody)
          : (await history.samples(scopeOf(caller), asked)).map(sampleBody);
      const next = data[limit]?.ts;
      const about = { device_id: id, variable: name, unit: variable.unit ?? null, resolution };
      return { ...about, data: data.slice(0, limit), ...(next !== undefined && { next }) };
    },
  });
}

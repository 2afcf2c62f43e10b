/**
 * Generated writes against a rule book of the test's own: none leaves outside role, scope, range, step, rate, interlock, halt or approval, and each
 * that leaves does so once. Time is the test's.
 */
import { join } from 'node:path';
import t from 'tap';
import { iterations } from '../../../../test/test-support/iterations.ts';
import { random } from '../../../../test/test-support/seed.ts';
import { newFolder } from '../../platform/files/test-support/new-folder.ts';
import { ROLES } from '../../platform/http/principal.ts';
import { createStorage } from '../../platform/storage/index.ts';
import { DeviceStore } from './device-store.ts';
import { DeviceService } from './devices.ts';
import { History } from './history.ts';
import type { Variable } from './profile.ts';
import { DeviceSessions } from './sessions.ts';
import { type IotTables, iotMigrations } from './tables.ts';
import { admin, callerOf } from './test-support/iot-bed.ts';
import { WriteService } from './writes.ts';

const N_WRITES = iterations(3_000, 10_000, 'SVC_IOT_WRITES');
t.setTimeout(300_000);
const KEYS = ['none', 'ask', 'second_person'] as const;
const RULE = { none: undefined, ask: 'own', second_person: 'second_person' } as const;

function randomVariables(): Variable[] {
  const numbers = Array.from({ length: 4 }, (_, i): Variable => {
    const min = random.integer(40) - 20;
    const max = min + 1 + random.integer(60);
    return {
      name: `n${i}`,
      type: random.chance(0.5) ? 'integer' : 'number',
      access: random.chance(0.9) ? 'read_write' : 'read',
      min,
      max,
      approval: KEYS[random.chance(0.7) ? 0 : random.integer(3)] ?? 'none',
      exposed: random.chance(0.6),
      ...(random.chance(0.5) && { step: [0.5, 1, 2][random.integer(3)] as number }),
      ...(random.chance(0.6) && { max_change_per_minute: 1 + random.integer(20) }),
      ...(random.chance(0.5) && { interlocks: [{ variable: 'hatch', equals: random.chance(0.5) }] }),
      read: { path: '/state', pointer: `/n${i}` },
      write: { path: `/set/n${i}` },
    };
  }).map((variable) => (variable.access === 'read' ? { ...variable, approval: 'none' as const } : variable));
  return [...numbers, { name: 'hatch', type: 'boolean', access: 'read', read: { path: '/state', pointer: '/hatch' } }];
}

t.test(`of ${N_WRITES} generated writes none leaves that is not allowed`, async (t) => {
  const url = `sqlite:${join(newFolder(t), 'svc.db')}`;
  const storage = createStorage({ url, modules: [{ module: 'iot', migrations: iotMigrations }] });
  await storage.open();
  t.teardown(() => storage.close());
  let now = Date.now();
  const clock = (): number => now;
  /** The device as it is, and what it got. */
  let state: Record<string, unknown> = {};
  const got: { name: string; value: unknown }[] = [];
  const faults = { read: false, write: 'none' as 'none' | 'refuse' | 'lose' };
  const answer = (status: number, body: unknown) => ({
    status,
    isOk: status < 300,
    bytes: async () => Buffer.from(JSON.stringify(body)),
    discard: () => {},
  });
  const http = {
    request: async ({ pathname }: URL, { method = 'GET', body = '' } = {}) => {
      if (method === 'GET') {
        if (faults.read) throw Object.assign(new Error('gone'), { code: 'ECONNREFUSED' });
        return answer(200, state);
      }
      const name = pathname.slice('/set/'.length);
      const value = JSON.parse(body) as unknown;
      got.push({ name, value });
      if (faults.write === 'refuse') return answer(400, {});
      state[name] = value;
      if (faults.write === 'lose') throw Object.assign(new Error('gone'), { code: 'ECONNRESET' });
      return answer(200, {});
    },
  };
  const access = storage.access<IotTables>();
  const store = new DeviceStore(access);
  const log = { info: () => {}, warn: () => {}, error: () => {} } as never;
  const history = new History({ storage: access, log, now: clock, sampleMs: 1e9, keepSamplesMs: 1e9, keepHoursMs: 1e9 });
  const parts = {
    store,
    nodeId: () => 'node',
    sockets: { check: () => {} } as never,
    sealingKey: async () => undefined as never,
    now: clock,
  };
  const sessions = new DeviceSessions({ ...parts, http: http as never, log, onReading: () => {} });
  t.teardown(() => sessions.stop());
  const service = new DeviceService({
    ...parts,
    sessions,
    history,
    http: { check: () => {} },
    license: { requireFeature: () => {} },
  });
  const writes = new WriteService({ store, devices: service, now: clock, onWrite: () => {} });
  let device = await newDevice();
  let moves: { name: string; at: number; change: number }[] = [];
  let isHalted = false;
  const outcomes = new Map<string, number>();

  async function newDevice() {
    const variables = randomVariables();
    state = Object.fromEntries(variables.map(({ name, min = 0 }) => [name, name === 'hatch' ? false : min]));
    const made = {
      name: `D${now}`,
      kind: 'http',
      connection: { url: 'https://device.example', poll_seconds: 3600 },
      variables,
    } as const;
    return await service.add(admin, made, undefined);
  }

  for (let n = 0; n < N_WRITES; n += 1) {
    now += random.integer(random.chance(0.1) ? 70_000 : 4_000);
    if (random.chance(0.02)) {
      await service.remove(admin, device.id);
      device = await newDevice();
      moves = [];
    }
    if (random.chance(0.2)) state['hatch'] = [true, false, 'unknown'][random.integer(3)];
    if (random.chance(0.03)) {
      isHalted = !isHalted;
      await (isHalted ? writes.halt(admin, 'test') : writes.resume(admin));
    }
    faults.read = random.chance(0.03);
    faults.write = random.chance(0.08) ? (random.chance(0.5) ? 'refuse' : 'lose') : 'none';
    const variable = device.variables[random.integer(4)] as Variable;
    const { name, min = 0, max = 0, step, max_change_per_minute: rate, approval = 'none' } = variable;
    const role = ROLES[random.chance(0.8) ? 1 + random.integer(3) : random.integer(4)] ?? 'viewer';
    const scopes = random.chance(0.9) ? ['*'] : ['iot:read'];
    const isOwnRoute = random.chance(0.7);
    const approved = random.chance(0.3) ? undefined : RULE[KEYS[random.integer(3)] ?? 'none'];
    const near = Number(state[name]) + (random.integer(9) - 4) / 2;
    const value: unknown = random.chance(0.05)
      ? ['x', true, null, Number.POSITIVE_INFINITY][random.integer(4)]
      : random.chance(0.8)
        ? near
        : min - 3 + random.integer(max - min + 6);
    const before = state[name];
    const nGot = got.length;
    const signal = new AbortController().signal;
    const outcome = await writes
      .write(
        { caller: callerOf('usr_any', role, { scopes }), isOwnRoute },
        { device_id: device.id, variable: name, value },
        approved,
        signal,
      )
      .then(
        ({ isVerified }) => (isVerified ? 'verified' : 'unverified'),
        (error: { code?: string }) => error.code ?? 'fault',
      );
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    // The rule book.
    const isNumber =
      typeof value === 'number' && Number.isFinite(value) && (variable.type !== 'integer' || Number.isInteger(value));
    const change = isNumber ? Math.abs(value - Number(before)) : 0;
    const moved = moves
      .filter((move) => move.name === name && move.at > now - 60_000)
      .reduce((sum, move) => sum + move.change, 0);
    const isLocked = variable.interlocks?.some(({ equals }) => state['hatch'] !== equals) ?? false;
    const isAllowed =
      role !== 'viewer' &&
      scopes[0] === '*' &&
      variable.access === 'read_write' &&
      (isOwnRoute || variable.exposed === true) &&
      isNumber &&
      value >= min &&
      value <= max &&
      (step === undefined || Number.isInteger((value - min) / step)) &&
      (approval === 'none' || approved === 'second_person' || approved === RULE[approval]) &&
      !isHalted &&
      !isLocked &&
      !faults.read &&
      (rate === undefined || moved + change <= rate);
    const sent = got.slice(nGot);
    const about = JSON.stringify({ n, variable, value, before, role, approved, outcome, sent, hatch: state['hatch'], moved });
    if (sent.length !== (isAllowed ? 1 : 0))
      return t.fail(`${sent.length} left, though it is ${isAllowed ? '' : 'not '}allowed: ${about}`);
    if (sent.length === 1 && (sent[0]?.name !== name || sent[0].value !== value)) return t.fail(`another write left: ${about}`);
    const expected = { none: 'verified', refuse: 'device_failed', lose: 'write_outcome_unknown' }[faults.write];
    if (isAllowed && outcome !== expected) return t.fail(`it ended as ${outcome}: ${about}`);
    if (isAllowed && faults.write !== 'refuse') moves.push({ name, at: now, change });
  }
  const codes = [
    'verified',
    'value_out_of_range',
    'value_type_mismatch',
    'interlock_open',
    'write_rate_exceeded',
    'writes_halted',
  ];
  for (const code of [
    ...codes,
    'tool_call_denied',
    'approval_missing',
    'device_offline',
    'device_failed',
    'write_outcome_unknown',
  ])
    t.ok((outcomes.get(code) ?? 0) > 0, `${code} came about ${outcomes.get(code) ?? 0} times`);
  const states = await access.read((await import('./tables.ts')).everyDevice(), (db) =>
    db.selectFrom('iot_writes').select('state').where('state', '=', 'sending').execute(),
  );
  t.equal(states.length, 0, 'every write has a final state');
});

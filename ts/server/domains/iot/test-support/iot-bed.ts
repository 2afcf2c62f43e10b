/** The iot module over stand-ins of what it uses, and devices that a test plays. */
import { mkdirSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Test } from 'tap';
import { SealingKey } from '../../../platform/crypto/sealing-key.ts';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import type { Principal, Role } from '../../../platform/http/principal.ts';
import type { AnyModuleDefinition } from '../../../platform/module/module.ts';
import { openModules, standIn, statedCallers } from '../../../platform/module/test-support/open-modules.ts';
import { type AuditEntry, type Delegation, type IdentityApi, identity } from '../../identity/index.ts';
import { type LicenseApi, license } from '../../license/index.ts';
import { security } from '../../security/index.ts';
import { iot } from '../index.ts';

export function callerOf(name: string, role: Role, more: Partial<Principal> = {}): Principal {
  return { tenant: 'red', subject: name, kind: 'session', roles: [role], scopes: ['*'], keyId: undefined, ...more };
}

export const viewer = callerOf('usr_vic', 'viewer');
export const developer = callerOf('usr_dev', 'developer');
export const admin = callerOf('usr_admin', 'admin');
export const root = callerOf('usr_root', 'superadmin');

interface IotBedOptions {
  readonly databaseUrl?: string;
  readonly dataDir?: string;
  readonly nodeId?: string;
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Modules that use it. */
  readonly modules?: readonly AnyModuleDefinition[];
}

export async function openIot(t: Test, options: IotBedOptions = {}) {
  const { dataDir = join(newFolder(t), 'data'), nodeId = 'node' } = options;
  mkdirSync(dataDir, { recursive: true });
  const acts: AuditEntry[] = [];
  /** Events, with what they carry. */
  const told: [string, unknown][] = [];
  const sealing = SealingKey.open(join(dataDir, 'sealing.key'));
  /** Accounts that may do nothing any more. */
  const disabled = new Set<string>();
  const modules = await openModules(t, {
    modules: [
      security,
      iot,
      standIn(identity, {
        recordAct: async (entry) => void acts.push(entry),
        sealingKey: () => sealing,
        publicUrl: 'https://ai.example',
        delegations: {
          of: (caller: Principal) => caller as unknown as Delegation,
          principalOf: async (kept: Delegation) => {
            const caller = kept as unknown as Principal;
            return disabled.has(caller.subject ?? '') ? undefined : caller;
          },
        },
      } as Partial<IdentityApi>),
      standIn(license, { requireFeature: () => {} } as Partial<LicenseApi>),
      ...(options.modules ?? []),
    ],
    services: {
      events: {
        send: async (_scope: unknown, { name }: { name: string }, payload: unknown) => void told.push([name, payload]),
        record: (db: never, scope: never, type: never, payload: never) => modules.events.record(db, scope, type, payload),
      } as never,
    },
    dataDir,
    nodeId,
    ...(options.databaseUrl !== undefined && { databaseUrl: options.databaseUrl }),
    settings: { 'iot.allowed_hosts': '127.0.0.1,http://127.0.0.1', ...options.settings },
    http: () => ({ authenticator: statedCallers }),
  });
  const ask = (method: string, path: string, as: Principal, body?: object) =>
    modules.send(method, path, { headers: { 'x-as': JSON.stringify(as) }, body });
  const add = async (device: object, as = admin): Promise<string> => {
    const { status, body, text } = await ask('POST', '/api/v1/iot/devices', as, device);
    if (status !== 201) throw new Error(`${status} ${text}`);
    return body.id;
  };
  const read = (device: string, variable: string, as = viewer) =>
    ask('POST', '/api/v1/iot/read', as, { device_id: device, variable });
  const write = (device: string, variable: string, value: unknown, as = developer, more: object = {}) =>
    ask('POST', '/api/v1/iot/write', as, { device_id: device, variable, value, ...more });
  return { ...modules, acts, told, disabled, ask, add, read, write };
}

/** A greenhouse with a door, whose heating may be set while the door is shut. */
export const greenhouse = {
  name: 'Greenhouse',
  kind: 'simulated',
  connection: { poll_seconds: 3600 },
  variables: [
    {
      name: 'temperature',
      unit: 'Cel',
      type: 'number',
      access: 'read_write',
      min: 5,
      max: 30,
      step: 0.5,
      max_change_per_minute: 10,
      exposed: true,
      interlocks: [{ variable: 'door', equals: false }],
      read: { start: 20 },
    },
    { name: 'door', type: 'boolean', access: 'read_write', exposed: false },
    { name: 'asked', type: 'integer', access: 'read_write', min: 0, max: 9, approval: 'ask', exposed: true },
    { name: 'guarded', type: 'integer', access: 'read_write', min: 0, max: 9, approval: 'second_person' },
    { name: 'label', type: 'text', access: 'read_write', read: { start: 'north' } },
  ],
} as const;

/** A Modbus server of the test's own: registers and coils by address, and what it is told to do wrong. */
export async function modbusServer(t: Test) {
  const registers = new Uint16Array(0x1_0000);
  const coils = new Uint8Array(0x1_0000);
  /** Function codes that came, in order. */
  const asked: number[] = [];
  const faults = { exception: 0, isSilent: false, dropsAfterWrite: false, transactionOffset: 0 };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    let received = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 6 && received.length >= 6 + received.readUInt16BE(4)) {
        const frame = received.subarray(0, 6 + received.readUInt16BE(4));
        received = received.subarray(frame.length);
        answer(socket, Buffer.from(frame));
      }
    });
  });
  const answer = (socket: Socket, frame: Buffer): void => {
    const code = frame[7] ?? 0;
    asked.push(code);
    const isWrite = code >= 5;
    const at = frame.readUInt16BE(8);
    const n = frame.readUInt16BE(10);
    if (faults.exception === 0) {
      if (code === 5) coils[at] = n === 0xff00 ? 1 : 0;
      if (code === 6) registers[at] = n;
      if (code === 16) for (let i = 0; i < n; i += 1) registers[at + i] = frame.readUInt16BE(13 + 2 * i);
    }
    if (faults.isSilent) return;
    if (isWrite && faults.dropsAfterWrite) return void socket.destroy();
    const body =
      faults.exception > 0
        ? Buffer.from([code | 0x80, faults.exception])
        : isWrite
          ? Buffer.concat([Buffer.from([code]), frame.subarray(8, 12)])
          : Buffer.concat([Buffer.from([code]), code <= 2 ? bitsOf(coils, at, n) : wordsOf(registers, at, n)]);
    const head = Buffer.alloc(7);
    head.writeUInt16BE((frame.readUInt16BE(0) + faults.transactionOffset) & 0xffff, 0);
    head.writeUInt16BE(body.length + 1, 4);
    head[6] = frame[6] ?? 0;
    socket.write(Buffer.concat([head, body]));
  };
  const listen = (at: number) => new Promise<void>((resolve) => server.listen(at, '127.0.0.1', resolve));
  await listen(0);
  const { port } = server.address() as { port: number };
  const stop = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  t.teardown(() => (server.listening ? stop() : undefined));
  return { port, registers, coils, asked, faults, stop, start: () => listen(port) };
}

function wordsOf(registers: Uint16Array, at: number, n: number): Buffer {
  const bytes = Buffer.alloc(1 + 2 * n);
  bytes[0] = 2 * n;
  for (let i = 0; i < n; i += 1) bytes.writeUInt16BE(registers[at + i] ?? 0, 1 + 2 * i);
  return bytes;
}

function bitsOf(coils: Uint8Array, at: number, n: number): Buffer {
  const bytes = Buffer.alloc(1 + Math.ceil(n / 8));
  bytes[0] = bytes.length - 1;
  for (let i = 0; i < n; i += 1) if (coils[at + i] === 1) bytes[1 + (i >> 3)] = (bytes[1 + (i >> 3)] ?? 0) | (1 << (i & 7));
  return bytes;
}

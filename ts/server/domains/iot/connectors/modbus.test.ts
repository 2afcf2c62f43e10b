/** Registers in four orders, both ways, against servers of our own and of pymodbus; what of a write nobody knows stays unknown. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { allowedHostsOf } from '../../../platform/network/allowed-host.ts';
import type { Device, ReadSpec, Value, Variable } from '../profile.ts';
import type { RawReading } from '../readings.ts';
import { modbusServer } from '../test-support/iot-bed.ts';
import type { Connector } from './connector.ts';
import { fitsRegisters, rawFrom, registersOf, scaled } from './modbus-registers.ts';
import { modbusTcp } from './modbus-tcp.ts';
import { StreamSockets } from './stream-sockets.ts';

type RegisterMap = ReadSpec<'modbus_tcp'>;

const ORDERS = [
  ['big', 'big'],
  ['big', 'little'],
  ['little', 'big'],
  ['little', 'little'],
] as const;
/** 0x41424344 in each of the four orders, as it lies on the wire. */
const WIRE = ['41424344', '43444142', '42414443', '44434241'];
const VALUES = {
  int16: -12_345,
  uint16: 54_321,
  int32: -123_456_789,
  uint32: 3_210_987_654,
  float32: 12.345,
  float64: -9.876_543_21e-7,
} as const;
const never = new AbortController().signal;

function variableOf(name: string, map: Partial<RegisterMap>): Variable {
  const read = { register: 0, area: 'holding', type: 'uint16', ...map } as const;
  return { name, type: read.type === 'bool' ? 'boolean' : 'number', access: 'read_write', min: -1e12, max: 1e12, read };
}

/** Whatever a connector says, by the variable's name. */
function openConnector(t: Test, port: number, variables: readonly Variable[], timeoutSeconds = 5) {
  const said = new Map<string, RawReading>();
  const device = { variables, connection: { host: '127.0.0.1', port, timeout_seconds: timeoutSeconds } } as unknown as Device;
  const connector: Connector = modbusTcp({
    device,
    key: undefined,
    http: undefined as never,
    sockets: new StreamSockets(allowedHostsOf('iot.allowed_hosts', '127.0.0.1', '')),
    now: Date.now,
    onReading: (name, reading) => void said.set(name, reading),
    onState: () => {},
  });
  t.teardown(() => connector.close());
  const poll = async () => {
    said.clear();
    await connector.poll?.(variables, never);
    return Object.fromEntries([...said].map(([name, { raw }]) => [name, raw]));
  };
  return { connector, said, poll };
}

t.test('four orders of bytes and words lie on the wire as documented', async (t) => {
  for (const [i, [byte_order, word_order]] of ORDERS.entries()) {
    const spec = { type: 'uint32', byte_order, word_order } as const;
    t.equal(registersOf(spec, 0x41424344).toString('hex'), WIRE[i]);
    t.equal(rawFrom(spec, Buffer.from(WIRE[i] ?? '', 'hex')), 0x41424344);
  }
});

t.test('what is written is what is read, in every type, order, scale and offset', async (t) => {
  const spec = fc.record({
    type: fc.constantFrom('int16', 'uint16', 'int32', 'uint32', 'float32', 'float64'),
    byte_order: fc.constantFrom('big', 'little'),
    word_order: fc.constantFrom('big', 'little'),
    scale: fc.constantFrom(1, 0.1, 0.01, 10, -1),
    offset: fc.constantFrom(0, -40, 100),
  });
  fc.assert(
    fc.property(spec, fc.double({ min: -30_000, max: 70_000, noNaN: true }), (made, value) => {
      if (!fitsRegisters(made, value)) return true;
      const read = scaled(made, rawFrom(made, registersOf(made, value)));
      const isFloat = made.type === 'float32' || made.type === 'float64';
      const tolerance = isFloat ? 1e-6 * Math.max(1, Math.abs(value)) * 100 : Math.abs(made.scale) / 2 + 1e-6;
      return Math.abs(read - value) <= tolerance;
    }),
    { numRuns: 2_000 },
  );
  t.notOk(fitsRegisters({ type: 'int16' }, 40_000));
  t.notOk(fitsRegisters({ type: 'float32' }, 1e39));
});

function allVariables(): Variable[] {
  return ORDERS.flatMap(([byte_order, word_order], i) =>
    Object.keys(VALUES).map((type, j) =>
      variableOf(`${type}_${i}`, { type: type as RegisterMap['type'], byte_order, word_order, register: 100 * i + 4 * j }),
    ),
  );
}

async function writeAndReadAll(t: Test, port: number): Promise<void> {
  const variables = [...allVariables(), variableOf('coil', { area: 'coil', type: 'bool', register: 7 })];
  const { connector, poll } = openConnector(t, port, variables);
  for (const variable of variables) {
    const value = variable.name === 'coil' ? true : VALUES[variable.name.split('_')[0] as keyof typeof VALUES];
    await connector.write(variable, value as Value, never);
  }
  const read = await poll();
  for (const { name } of variables) {
    const expected = name === 'coil' ? true : VALUES[name.split('_')[0] as keyof typeof VALUES];
    t.equal(name.startsWith('float32') ? Number((read[name] as number).toPrecision(6)) : read[name], expected, name);
  }
}

t.test('every type in every order goes both ways, and a value of several registers by one request', async (t) => {
  const server = await modbusServer(t);
  await writeAndReadAll(t, server.port);
  const nWide = 4 * 4;
  t.equal(server.asked.filter((code) => code === 16).length, nWide);
  t.equal(server.asked.filter((code) => code === 6).length, 4 * 2);
});

t.test('registers beside each other are read by one request, and no others', async (t) => {
  const server = await modbusServer(t);
  const variables = [
    variableOf('a', { register: 10, type: 'float32' }),
    variableOf('b', { register: 12 }),
    variableOf('c', { register: 14 }),
    variableOf('d', { register: 3, area: 'input' }),
    variableOf('e', { register: 0, area: 'coil', type: 'bool' }),
    variableOf('f', { register: 1, area: 'coil', type: 'bool' }),
  ];
  server.registers[12] = 77;
  server.coils[1] = 1;
  const { poll } = openConnector(t, server.port, variables);
  t.match(await poll(), { b: 77, e: false, f: true });
  t.strictSame(server.asked, [1, 3, 3, 4]);
});

t.test('a sentinel and a float that is no number are bad', async (t) => {
  const server = await modbusServer(t);
  const variables = [variableOf('none', { sentinel: 65_535 }), variableOf('nan', { register: 2, type: 'float32' })];
  server.registers[0] = 0xffff;
  server.registers.set([0x7fc0, 0], 2);
  const { poll, said } = openConnector(t, server.port, variables);
  await poll();
  t.match(said.get('none'), { badReason: 'the device has no value' });
  t.match(said.get('nan'), { badReason: 'what came is no number' });
});

t.test('a write ends as unsent, refused or unknown, and is never sent twice', async (t) => {
  const server = await modbusServer(t);
  const variable = variableOf('x', {});
  const { connector, poll } = openConnector(t, server.port, [variable], 0.3);
  const outcome = () =>
    connector.write(variable, 5, never).then(
      () => 'written',
      (error) => error.kind,
    );
  const writes = () => server.asked.filter((code) => code === 6).length;
  server.faults.exception = 2;
  t.equal(await outcome(), 'refused');
  server.faults.exception = 5;
  t.equal(await outcome(), 'unknown', 'the device is still at it');
  server.faults.exception = 0;
  server.faults.dropsAfterWrite = true;
  t.equal(await outcome(), 'unknown');
  server.faults.dropsAfterWrite = false;
  server.faults.isSilent = true;
  t.equal(await outcome(), 'unknown');
  server.faults.isSilent = false;
  server.faults.transactionOffset = 1;
  t.equal(await outcome(), 'unknown', 'an answer to another request is none');
  server.faults.transactionOffset = 0;
  t.equal(writes(), 5);
  await server.stop();
  t.equal(await outcome(), 'unsent');
  await server.start();
  await poll();
  t.equal(writes(), 5, 'what was not sent is not sent later');
  t.equal(await outcome(), 'written');
});

t.test('what is no Modbus ends the connection and no more', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 60 }), async (bytes) => {
      const server = createServer((socket) => socket.on('error', () => undefined).once('data', () => socket.end(bytes)));
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const variable = variableOf('x', { type: 'float64' });
      const { connector } = openConnector(t, (server.address() as { port: number }).port, [variable], 1);
      const isFailed = await connector.poll?.([variable], never).then(
        () => false,
        (error) => error.name === 'DeviceFailure',
      );
      await connector.close();
      server.close();
      return isFailed === true;
    }),
    { numRuns: 60 },
  );
});

const PYMODBUS = `
import asyncio
from pymodbus.server import StartAsyncTcpServer
from pymodbus.datastore import ModbusSequentialDataBlock, ModbusSlaveContext, ModbusServerContext
block = lambda: ModbusSequentialDataBlock(0, [0] * 2000)
slave = ModbusSlaveContext(di=block(), co=block(), hr=block(), ir=block(), zero_mode=True)
async def main():
    from sys import argv
    print("ready", flush=True)
    await StartAsyncTcpServer(context=ModbusServerContext(slaves=slave, single=True), address=("127.0.0.1", int(argv[1])))
asyncio.run(main())
`;
const hasPymodbus = spawnSync('/usr/bin/python3', ['-c', 'import pymodbus.server']).status === 0;

t.test(
  'every type in every order goes both ways with pymodbus',
  { skip: hasPymodbus ? false : 'python3-pymodbus with python3-serial is not installed' },
  async (t) => {
    const free = createServer().listen(0, '127.0.0.1');
    await once(free, 'listening');
    const { port } = free.address() as { port: number };
    free.close();
    const server = spawn('/usr/bin/python3', ['-c', PYMODBUS, String(port)], { stdio: ['ignore', 'pipe', 'ignore'] });
    t.teardown(() => server.kill());
    for await (const line of createInterface({ input: server.stdout })) if (line === 'ready') break;
    const probe = variableOf('probe', {});
    const { poll } = openConnector(t, port, [probe]);
    while (
      !(await poll().then(
        () => true,
        () => false,
      ))
    )
      await new Promise((resolve) => setImmediate(resolve));
    await writeAndReadAll(t, port);
    const words = variableOf('words', { register: 1000, type: 'float32', word_order: 'little' });
    const { connector } = openConnector(t, port, [words]);
    await connector.write(words, 1, never);
    const raw = [variableOf('low', { register: 1000 }), variableOf('high', { register: 1001 })];
    t.match(await openConnector(t, port, raw).poll(), { low: 0, high: 0x3f80 }, 'as another client would find it');
  },
);

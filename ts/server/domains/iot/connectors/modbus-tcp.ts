/** Modbus TCP devices: registers that lie beside each other are read by one request, and a value is written by one. */
import { type Connection, isReadable, type ReadSpec, type Value, type Variable } from '../profile.ts';
import { type Connector, type ConnectorDeps, DeviceFailure } from './connector.ts';
import { ModbusLink } from './modbus-link.ts';
import { rawFrom, registersOf, scaled, wordsOf } from './modbus-registers.ts';

type Map = ReadSpec<'modbus_tcp'>;

const DEFAULTS = { port: 502, unit_id: 1, poll_seconds: 5, timeout_seconds: 3 };
const READ_FUNCTIONS = { coil: 1, discrete: 2, holding: 3, input: 4 } as const;
const WRITE_COIL = 5;
const WRITE_REGISTER = 6;
const WRITE_REGISTERS = 16;
const COIL_ON = 0xff00;
const MOST_REGISTERS = 125;

/** Registers that one request reads. */
interface Span {
  readonly area: Map['area'];
  readonly from: number;
  n: number;
  readonly variables: Variable[];
}

export function modbusTcp({ device, sockets, onReading, now }: ConnectorDeps): Connector {
  const { host, ...given } = device.connection as Connection<'modbus_tcp'>;
  const { port, unit_id: unitId, poll_seconds: pollSeconds, timeout_seconds: timeoutSeconds } = { ...DEFAULTS, ...given };
  const link = new ModbusLink({
    connect: () => sockets.connect({ host, port, isSecure: false }),
    unitId,
    timeoutMs: timeoutSeconds * 1000,
  });
  return {
    pollMs: pollSeconds * 1000,
    open: () => {},
    close: async () => link.close(),
    poll: async (variables, signal) => {
      for (const span of spansOf(variables.filter(isReadable))) await readSpan(link, span, onReading, now, signal);
    },
    write: async (variable, value, signal) => {
      const map = mapOf(variable);
      const address = Buffer.alloc(2);
      address.writeUInt16BE(map.register);
      await (map.area === 'coil' ? writeCoil(link, address, value, signal) : writeRegisters(link, address, map, value, signal));
    },
  };
}

async function readSpan(
  link: ModbusLink,
  { area, from, n, variables }: Span,
  onReading: ConnectorDeps['onReading'],
  now: () => number,
  signal: AbortSignal,
): Promise<void> {
  const request = Buffer.alloc(4);
  request.writeUInt16BE(from, 0);
  request.writeUInt16BE(n, 2);
  const isBits = area === 'coil' || area === 'discrete';
  const nBytes = isBits ? Math.ceil(n / 8) : 2 * n;
  const answer = await link.request(READ_FUNCTIONS[area], request, signal).catch((error: unknown) => {
    // The device is there, and lacks these registers: the others are read.
    if (!(error instanceof DeviceFailure) || error.kind !== 'refused') throw error;
    for (const { name } of variables) onReading(name, { raw: null, badReason: error.message });
    return undefined;
  });
  if (answer === undefined) return;
  if (answer[0] !== nBytes || answer.length !== nBytes + 1) throw new DeviceFailure('unknown', 'its answer has another length');
  for (const variable of variables) {
    const map = mapOf(variable);
    const at = map.register - from;
    if (isBits) {
      onReading(variable.name, { raw: (((answer[1 + (at >> 3)] ?? 0) >> (at & 7)) & 1) === 1, at: now() });
      continue;
    }
    const raw = rawFrom(map, answer.subarray(1 + 2 * at, 1 + 2 * (at + wordsOf(map.type))));
    onReading(variable.name, { raw: scaled(map, raw), at: now(), badReason: badReason(map, raw) });
  }
}

function badReason({ sentinel }: Map, raw: number): string | undefined {
  if (!Number.isFinite(raw)) return 'what came is no number';
  return sentinel !== undefined && raw === sentinel ? 'the device has no value' : undefined;
}

async function writeCoil(link: ModbusLink, address: Buffer, value: Value, signal: AbortSignal): Promise<void> {
  const data = Buffer.concat([address, Buffer.alloc(2)]);
  data.writeUInt16BE(value === true ? COIL_ON : 0, 2);
  requireEcho(await link.request(WRITE_COIL, data, signal), data);
}

/** A value of several registers goes by one request: by two it would be another number in between. */
async function writeRegisters(link: ModbusLink, address: Buffer, map: Map, value: Value, signal: AbortSignal): Promise<void> {
  const registers = registersOf(map, Number(value));
  const n = registers.length / 2;
  if (n === 1) {
    const data = Buffer.concat([address, registers]);
    return requireEcho(await link.request(WRITE_REGISTER, data, signal), data);
  }
  const head = Buffer.concat([address, Buffer.from([0, n])]);
  const data = Buffer.concat([head, Buffer.from([registers.length]), registers]);
  requireEcho(await link.request(WRITE_REGISTERS, data, signal), head);
}

function requireEcho(answer: Buffer, sent: Buffer): void {
  if (!answer.equals(sent)) throw new DeviceFailure('unknown', 'its answer is about another write');
}

/** Only registers that variables have are read: others may not be there. */
function spansOf(variables: readonly Variable[]): Span[] {
  const spans: Span[] = [];
  const inOrder = variables.toSorted((a, b) => compare(mapOf(a), mapOf(b)));
  for (const variable of inOrder) {
    const { area, register, type } = mapOf(variable);
    const nWords = area === 'coil' || area === 'discrete' ? 1 : wordsOf(type);
    const last = spans.at(-1);
    const end = register + nWords;
    const isBeside = last?.area === area && register <= last.from + last.n && end - last.from <= MOST_REGISTERS;
    if (!isBeside || last === undefined) spans.push({ area, from: register, n: nWords, variables: [variable] });
    else {
      last.n = Math.max(last.n, end - last.from);
      last.variables.push(variable);
    }
  }
  return spans;
}

function compare(a: Map, b: Map): number {
  return a.area === b.area ? a.register - b.register : a.area < b.area ? -1 : 1;
}

function mapOf({ read }: Variable): Map {
  return read as unknown as Map;
}

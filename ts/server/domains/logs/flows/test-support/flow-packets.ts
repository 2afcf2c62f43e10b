/** Packets of NetFlow and IPFIX, and captures, made by hand. */
import { isIP } from 'node:net';
import { random } from '../../../../../../test/test-support/seed.ts';

interface MadeFlow {
  src: string;
  dst: string;
  srcPort: number;
  dstPort: number;
  proto: number;
  bytes: number;
  packets: number;
  /** Unix milliseconds. */
  endMs: number;
}

const TEMPLATE = 256;
const OPTIONS_TEMPLATE = 300;
const UPTIME_MS = 100_000;

function address(text: string): Buffer {
  if (isIP(text) === 4) return Buffer.from(text.split('.').map(Number));
  const [head = '', tail = ''] = text.split('::');
  const groups = (part: string): number[] => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)));
  const [before, after] = [groups(head), groups(tail)];
  const bytes = Buffer.alloc(16);
  for (const [i, group] of before.entries()) bytes.writeUInt16BE(group, 2 * i);
  for (const [i, group] of after.entries()) bytes.writeUInt16BE(group, 2 * (8 - after.length + i));
  return bytes;
}

function numbers(size: 1 | 2 | 4, ...values: number[]): Buffer {
  const bytes = Buffer.alloc(size * values.length);
  for (const [i, value] of values.entries()) bytes.writeUIntBE(value, i * size, size);
  return bytes;
}

const seconds = (ms: number): number => Math.floor(ms / 1000);

/** The exporter was started `UPTIME_MS` before the last flow ended. */
export function v5Packet(flows: readonly MadeFlow[], sampling = 0): Buffer {
  const end = Math.max(...flows.map(({ endMs }) => endMs));
  const head = Buffer.concat([
    numbers(2, 5, flows.length),
    numbers(4, UPTIME_MS, seconds(end), (end % 1000) * 1e6, 0),
    numbers(1, 0, 0),
    numbers(2, sampling),
  ]);
  const records = flows.map((flow) =>
    Buffer.concat([
      address(flow.src),
      address(flow.dst),
      Buffer.alloc(4),
      numbers(2, 1, 2),
      numbers(4, flow.packets, flow.bytes, 0, UPTIME_MS + flow.endMs - end),
      numbers(2, flow.srcPort, flow.dstPort),
      numbers(1, 0, 0x1b, flow.proto, 0),
      Buffer.alloc(8),
    ]),
  );
  return Buffer.concat([head, ...records]);
}

const set = (id: number, body: Buffer): Buffer => Buffer.concat([numbers(2, id, body.length + 4), body]);

const FIELDS_9 = [8, 4, 12, 4, 7, 2, 11, 2, 4, 1, 1, 4, 2, 4, 21, 4];

export function v9Packet(
  flows: readonly MadeFlow[],
  { hasTemplate = true, sampling }: { hasTemplate?: boolean; sampling?: number } = {},
): Buffer {
  const end = Math.max(0, ...flows.map(({ endMs }) => endMs));
  // The head has whole seconds alone.
  const headMs = Math.ceil(end / 1000) * 1000;
  const records = flows.map((flow) =>
    Buffer.concat([
      address(flow.src),
      address(flow.dst),
      numbers(2, flow.srcPort, flow.dstPort),
      numbers(1, flow.proto),
      numbers(4, flow.bytes, flow.packets, UPTIME_MS + flow.endMs - headMs),
    ]),
  );
  const sets = [
    ...(hasTemplate ? [set(0, numbers(2, TEMPLATE, FIELDS_9.length / 2, ...FIELDS_9))] : []),
    // A scope of 4 bytes (the system), and the interval of sampling.
    ...(sampling === undefined
      ? []
      : [set(1, numbers(2, OPTIONS_TEMPLATE, 4, 4, 1, 4, 34, 4)), set(OPTIONS_TEMPLATE, numbers(4, 0, sampling))]),
    ...(records.length > 0 ? [set(TEMPLATE, Buffer.concat([...records, Buffer.alloc(3)]))] : []),
  ];
  return Buffer.concat([numbers(2, 9, sets.length), numbers(4, UPTIME_MS, seconds(headMs), 0, 1), ...sets]);
}

/** All flows of one family. A field of another registry and one of variable length stand among the others. */
export function ipfixPacket(flows: readonly MadeFlow[]): Buffer {
  const isSix = flows[0] !== undefined && isIP(flows[0].src) === 6;
  const [src, dst, size] = isSix ? [27, 28, 16] : [8, 12, 4];
  const template = Buffer.concat([
    numbers(2, TEMPLATE, 10, src, size, dst, size, 7, 2, 11, 2, 4, 1, 0x8000 | 1, 4),
    numbers(4, 9),
    numbers(2, 82, 0xffff, 1, 8, 2, 8, 153, 8),
  ]);
  const records = flows.map((flow) => {
    const volumes = Buffer.alloc(24);
    volumes.writeBigUInt64BE(BigInt(flow.bytes), 0);
    volumes.writeBigUInt64BE(BigInt(flow.packets), 8);
    volumes.writeBigUInt64BE(BigInt(flow.endMs), 16);
    return Buffer.concat([
      address(flow.src),
      address(flow.dst),
      numbers(2, flow.srcPort, flow.dstPort),
      numbers(1, flow.proto),
      numbers(4, 0xdeadbeef),
      numbers(1, 4),
      Buffer.from('eth0'),
      volumes,
    ]);
  });
  const body = Buffer.concat([set(2, template), set(TEMPLATE, Buffer.concat(records))]);
  const end = Math.max(0, ...flows.map(({ endMs }) => endMs));
  return Buffer.concat([numbers(2, 10, body.length + 16), numbers(4, seconds(end), 0, 1), body]);
}

/** A capture (libpcap, Ethernet) of so many packets of TCP and UDP, of the last minutes. */
export function captureOf(nPackets: number): Buffer {
  const head = Buffer.alloc(24);
  head.writeUInt32LE(0xa1b2c3d4, 0);
  head.writeUInt16LE(2, 4);
  head.writeUInt16LE(4, 6);
  head.writeUInt32LE(65_535, 16);
  head.writeUInt32LE(1, 20);
  const begin = seconds(Date.now()) - 600;
  const below = (n: number): number => Math.floor(random.next() * n);
  const packets = Array.from({ length: nPackets }, (_, i) => {
    const isTcp = below(2) === 0;
    const size = below(1_000);
    const ports = isTcp ? numbers(2, 40_000 + below(10), 443) : numbers(2, 5_000 + below(5), 53);
    const rest = isTcp ? Buffer.concat([numbers(4, 1, 1), numbers(2, 0x5018, 1_000, 0, 0)]) : numbers(2, size + 8, 0);
    const body = Buffer.concat([ports, rest, Buffer.alloc(size)]);
    const ip = Buffer.concat([
      numbers(1, 0x45, 0),
      numbers(2, body.length + 20, i & 0xffff, 0),
      numbers(1, 64, isTcp ? 6 : 17),
      numbers(2, 0),
      address(`10.0.${below(4)}.${1 + below(40)}`),
      address(`192.0.2.${1 + below(20)}`),
    ]);
    const frame = Buffer.concat([Buffer.alloc(12), numbers(2, 0x0800), ip, body]);
    const before = Buffer.alloc(16);
    before.writeUInt32LE(begin + Math.floor(i / 30), 0);
    before.writeUInt32LE((i % 30) * 1_000, 4);
    before.writeUInt32LE(frame.length, 8);
    before.writeUInt32LE(frame.length, 12);
    return Buffer.concat([before, frame]);
  });
  return Buffer.concat([head, ...packets]);
}

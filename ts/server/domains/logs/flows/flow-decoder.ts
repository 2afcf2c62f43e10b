/**
 * Packets of NetFlow v5, v9 (RFC 3954) and IPFIX (RFC 7011), as flows. Templates are kept by exporter; data that comes before its template waits
 * for it, and is counted when it waited in vain.
 */
import { MostRecent } from './most-recent.ts';

/** Volumes are as the exporter reports them, sampled or not. */
export interface Flow {
  /** Its end, in Unix milliseconds; or when its packet came, where that is no time. */
  atMs: number;
  src: string;
  dst: string;
  proto: number;
  srcPort: number;
  dstPort: number;
  bytes: number;
  packets: number;
  flows: number;
}

interface Field {
  type: number;
  /** Bytes; VARIABLE: each record says it. */
  length: number;
  /** 0: those of the IANA. */
  enterprise: number;
}

interface Template {
  fields: readonly Field[];
  /** Its records say something of the exporter, and are no flows. */
  isOptions: boolean;
}

interface Held {
  untilMs: number;
  atMs: number;
  bytes: Buffer;
  context: PacketContext;
}

/** The head of a packet says this of its records. */
interface PacketContext {
  version: number;
  receivedMs: number;
  /** The exporter was started then; undefined: its records have whole times. */
  bootMs: number | undefined;
}

interface Exporter {
  templates: Map<number, Template>;
  held: Map<number, Held[]>;
  heldBytes: number;
  /** One packet in so many; 0: it does not say. */
  sampling: number;
}

/** The form that is kept over restarts. */
export type SavedTemplates = [exporter: string, sampling: number, templates: [number, Template][]][];

interface DecoderCounts {
  packets: number;
  /** Packets, or parts of them, that are none. */
  invalid: number;
  /** Records whose template never came, in packets. */
  lost: number;
  flows: number;
}

const VARIABLE = 0xffff;
const FIRST_DATA_SET = 256;
const HOLD_MS = 60_000;
const MOST_EXPORTERS = 500;
const MOST_TEMPLATES = 500;
const MOST_FIELDS = 200;
const MOST_HELD_BYTES = 256 * 1024;
/** Of a set without its bytes: an exporter may send empty ones. */
const HELD_BYTES = 128;
/** More in one flow is no volume, but damage. */
const MOST_VOLUME = 2 ** 45;
const MOST_AHEAD_MS = 5 * 60_000;
const MOST_BEHIND_MS = 2 * 3_600_000;

/** Elements of the IANA (the registry of IPFIX), by what they say of a flow. */
const ELEMENTS = {
  bytes: [1, 85, 23],
  packets: [2, 86, 24],
  flows: [3],
  proto: [4],
  srcPort: [7, 180, 182],
  dstPort: [11, 181, 183],
  endUptime: [21],
  endSeconds: [151],
  endMs: [153],
  sampling: [34, 50],
  sampledPackets: [305],
  skippedPackets: [306],
} as const;
const SOURCES = [8, 27] as const;
const TARGETS = [12, 28] as const;

class BadPacket extends Error {}

export class FlowDecoder {
  readonly #exporters = new MostRecent<string, Exporter>(MOST_EXPORTERS);
  readonly counts: DecoderCounts = { packets: 0, invalid: 0, lost: 0, flows: 0 };

  constructor(saved: SavedTemplates = []) {
    for (const [name, sampling, templates] of saved)
      this.#exporters.set(name, { templates: new Map(templates), held: new Map(), heldBytes: 0, sampling });
  }

  get saved(): SavedTemplates {
    return [...this.#exporters.entries()].map(([name, { sampling, templates }]) => [name, sampling, [...templates]]);
  }

  get nExporters(): number {
    return this.#exporters.size;
  }

  /** One packet in so many, as the exporter says of all of its flows; 0: it does not say. */
  samplingOf(address: string): number {
    let sampling = 0;
    for (const [name, exporter] of this.#exporters.entries())
      if (name.startsWith(`${address} `)) sampling = Math.max(sampling, exporter.sampling);
    return sampling;
  }

  /** Never throws: what is no packet is counted. What of a packet is good counts. */
  decode(address: string, packet: Buffer, receivedMs: number): Flow[] {
    this.counts.packets += 1;
    const flows: Flow[] = [];
    try {
      const version = packet.length < 2 ? 0 : packet.readUInt16BE(0);
      if (version === 5) this.#decode5(address, packet, receivedMs, flows);
      else if (version === 9) this.#decode9(address, packet, receivedMs, flows);
      else if (version === 10) this.#decode10(address, packet, receivedMs, flows);
      else throw new BadPacket();
    } catch (error) {
      if (!(error instanceof BadPacket || error instanceof RangeError)) throw error;
      this.counts.invalid += 1;
    }
    this.counts.flows += flows.length;
    return flows;
  }

  /** Gives up what waited too long. */
  expire(nowMs: number): void {
    for (const [, exporter] of this.#exporters.entries())
      for (const [id, held] of exporter.held) {
        const kept = held.filter(({ untilMs }) => untilMs > nowMs);
        this.counts.lost += held.length - kept.length;
        exporter.heldBytes -= sizeOf(held) - sizeOf(kept);
        if (kept.length === 0) exporter.held.delete(id);
        else exporter.held.set(id, kept);
      }
  }

  #exporter(name: string): Exporter {
    const exporter = this.#exporters.get(name) ?? { templates: new Map(), held: new Map(), heldBytes: 0, sampling: 0 };
    const evicted = this.#exporters.set(name, exporter);
    for (const held of evicted?.held.values() ?? []) this.counts.lost += held.length;
    return exporter;
  }

  #decode5(address: string, packet: Buffer, receivedMs: number, flows: Flow[]): void {
    const HEAD = 24;
    const RECORD = 48;
    if (packet.length < HEAD) throw new BadPacket();
    const count = packet.readUInt16BE(2);
    const bootMs = packet.readUInt32BE(8) * 1000 + packet.readUInt32BE(12) / 1e6 - packet.readUInt32BE(4);
    const exporter = this.#exporter(`${address} 5 ${packet.readUInt16BE(20)}`);
    exporter.sampling = packet.readUInt16BE(22) & 0x3fff;
    for (let i = 0; i < count; i++) {
      const at = HEAD + i * RECORD;
      if (at + RECORD > packet.length) throw new BadPacket();
      flows.push({
        atMs: timeWithin(bootMs + packet.readUInt32BE(at + 28), receivedMs),
        src: addressOf(packet.subarray(at, at + 4)),
        dst: addressOf(packet.subarray(at + 4, at + 8)),
        proto: packet.readUInt8(at + 38),
        srcPort: packet.readUInt16BE(at + 32),
        dstPort: packet.readUInt16BE(at + 34),
        bytes: packet.readUInt32BE(at + 20),
        packets: packet.readUInt32BE(at + 16),
        flows: 1,
      });
    }
  }

  #decode9(address: string, packet: Buffer, receivedMs: number, flows: Flow[]): void {
    const HEAD = 20;
    if (packet.length < HEAD) throw new BadPacket();
    const bootMs = packet.readUInt32BE(8) * 1000 - packet.readUInt32BE(4);
    const exporter = this.#exporter(`${address} 9 ${packet.readUInt32BE(16)}`);
    this.#sets(exporter, packet.subarray(HEAD), { version: 9, receivedMs, bootMs }, flows);
  }

  #decode10(address: string, packet: Buffer, receivedMs: number, flows: Flow[]): void {
    const HEAD = 16;
    if (packet.length < HEAD) throw new BadPacket();
    const length = packet.readUInt16BE(2);
    if (length < HEAD || length > packet.length) throw new BadPacket();
    const exporter = this.#exporter(`${address} 10 ${packet.readUInt32BE(12)}`);
    this.#sets(exporter, packet.subarray(HEAD, length), { version: 10, receivedMs, bootMs: undefined }, flows);
  }

  #sets(exporter: Exporter, bytes: Buffer, context: PacketContext, flows: Flow[]): void {
    const [templateSet, optionsSet] = context.version === 9 ? [0, 1] : [2, 3];
    for (let at = 0; at + 4 <= bytes.length; ) {
      const id = bytes.readUInt16BE(at);
      const length = bytes.readUInt16BE(at + 2);
      if (length < 4 || at + length > bytes.length) throw new BadPacket();
      const set = bytes.subarray(at + 4, at + length);
      at += length;
      if (id === templateSet) this.#templates(exporter, set, context, flows);
      else if (id === optionsSet) this.#optionsTemplates(exporter, set, context, flows);
      else if (id >= FIRST_DATA_SET) this.#data(exporter, id, set, context, flows);
    }
  }

  #templates(exporter: Exporter, set: Buffer, context: PacketContext, flows: Flow[]): void {
    // What is shorter than a template is padding.
    for (let at = 0; at + 4 <= set.length; ) {
      const id = set.readUInt16BE(at);
      const nFields = set.readUInt16BE(at + 2);
      if (id < FIRST_DATA_SET && context.version === 9) return;
      at += 4;
      if (nFields === 0) {
        // IPFIX withdraws one template, or all of them by the number of the set.
        if (id === 2 || id === 3) exporter.templates.clear();
        else exporter.templates.delete(id);
        continue;
      }
      const { fields, end } = fieldsFrom(set, at, nFields, context.version);
      at = end;
      this.#learn(exporter, id, { fields, isOptions: false }, flows);
    }
  }

  #optionsTemplates(exporter: Exporter, set: Buffer, context: PacketContext, flows: Flow[]): void {
    for (let at = 0; at + 6 <= set.length; ) {
      const id = set.readUInt16BE(at);
      const [first, second] = [set.readUInt16BE(at + 2), set.readUInt16BE(at + 4)];
      if (id < FIRST_DATA_SET) return;
      // Version 9 counts bytes of scopes and of options, IPFIX all fields and then those of scopes.
      const nFields = context.version === 9 ? (first + second) / 4 : first;
      if (!Number.isInteger(nFields)) throw new BadPacket();
      const { fields, end } = fieldsFrom(set, at + 6, nFields, context.version);
      at = end;
      // Numbers of scopes in version 9 are of another list.
      const nScopes = context.version === 9 ? first / 4 : 0;
      const read = fields.map((field, i) => (i < nScopes ? { ...field, type: 0 } : field));
      this.#learn(exporter, id, { fields: read, isOptions: true }, flows);
    }
  }

  #learn(exporter: Exporter, id: number, template: Template, flows: Flow[]): void {
    exporter.templates.delete(id);
    exporter.templates.set(id, template);
    const [oldest] = exporter.templates.keys();
    if (exporter.templates.size > MOST_TEMPLATES && oldest !== undefined) exporter.templates.delete(oldest);
    const held = exporter.held.get(id) ?? [];
    exporter.held.delete(id);
    exporter.heldBytes -= sizeOf(held);
    for (const { bytes, context } of held) this.#records(exporter, template, bytes, context, flows);
  }

  #data(exporter: Exporter, id: number, set: Buffer, context: PacketContext, flows: Flow[]): void {
    const template = exporter.templates.get(id);
    if (template !== undefined) {
      this.#records(exporter, template, set, context, flows);
      return;
    }
    if (exporter.heldBytes + set.length + HELD_BYTES > MOST_HELD_BYTES) {
      this.counts.lost += 1;
      return;
    }
    const { receivedMs } = context;
    const held = { untilMs: receivedMs + HOLD_MS, atMs: receivedMs, bytes: Buffer.from(set), context };
    const others = exporter.held.get(id);
    if (others === undefined) exporter.held.set(id, [held]);
    else others.push(held);
    exporter.heldBytes += set.length + HELD_BYTES;
  }

  #records(exporter: Exporter, { fields, isOptions }: Template, set: Buffer, context: PacketContext, flows: Flow[]): void {
    const least = fields.reduce((sum, { length }) => sum + (length === VARIABLE ? 1 : length), 0);
    if (least === 0) throw new BadPacket();
    // What is shorter than a record is padding.
    for (let at = 0; at + least <= set.length; ) {
      const values = new Map<number, Buffer>();
      for (const { type, length: given, enterprise } of fields) {
        let length = given;
        if (given === VARIABLE) {
          length = set.readUInt8(at);
          at += 1;
          if (length === 255) {
            length = set.readUInt16BE(at);
            at += 2;
          }
        }
        if (at + length > set.length) throw new BadPacket();
        if (enterprise === 0 && type !== 0) values.set(type, set.subarray(at, at + length));
        at += length;
      }
      if (isOptions) {
        const sampling = samplingFrom(values);
        if (sampling !== undefined && sampling < 2 ** 31) exporter.sampling = sampling;
        continue;
      }
      const flow = flowOf(values, context);
      if (flow === undefined) this.counts.invalid += 1;
      else flows.push(flow);
    }
  }
}

function sizeOf(held: readonly Held[]): number {
  return held.reduce((sum, { bytes }) => sum + bytes.length + HELD_BYTES, 0);
}

function fieldsFrom(set: Buffer, begin: number, nFields: number, version: number): { fields: Field[]; end: number } {
  if (nFields > MOST_FIELDS) throw new BadPacket();
  const fields: Field[] = [];
  let at = begin;
  for (let i = 0; i < nFields; i++) {
    const type = set.readUInt16BE(at);
    const length = set.readUInt16BE(at + 2);
    at += 4;
    const isForeign = version === 10 && (type & 0x8000) !== 0;
    fields.push({ type: isForeign ? type & 0x7fff : type, length, enterprise: isForeign ? set.readUInt32BE(at) : 0 });
    if (isForeign) at += 4;
    if (version === 9 && length === VARIABLE) throw new BadPacket();
  }
  return { fields, end: at };
}

/** Undefined: it has no addresses, or no volume. */
function flowOf(values: ReadonlyMap<number, Buffer>, { receivedMs, bootMs }: PacketContext): Flow | undefined {
  const [src, dst] = [firstOf(values, SOURCES), firstOf(values, TARGETS)];
  const [bytes, packets] = [numberOf(values, ELEMENTS.bytes), numberOf(values, ELEMENTS.packets)];
  if (src === undefined || dst === undefined || bytes === undefined || packets === undefined) return undefined;
  if (bytes > MOST_VOLUME || packets > MOST_VOLUME) return undefined;
  if (![4, 16].includes(src.length) || ![4, 16].includes(dst.length)) return undefined;
  const number = (elements: readonly number[]): number => numberOf(values, elements) ?? 0;
  return {
    atMs: timeWithin(endOf(values, bootMs), receivedMs),
    src: addressOf(src),
    dst: addressOf(dst),
    proto: number(ELEMENTS.proto) & 0xff,
    srcPort: number(ELEMENTS.srcPort) & 0xffff,
    dstPort: number(ELEMENTS.dstPort) & 0xffff,
    bytes,
    packets,
    flows: Math.min(Math.max(1, number(ELEMENTS.flows)), MOST_VOLUME),
  };
}

function endOf(values: ReadonlyMap<number, Buffer>, bootMs: number | undefined): number | undefined {
  const ms = numberOf(values, ELEMENTS.endMs);
  if (ms !== undefined) return ms;
  const seconds = numberOf(values, ELEMENTS.endSeconds);
  if (seconds !== undefined) return seconds * 1000;
  const uptime = numberOf(values, ELEMENTS.endUptime);
  return uptime === undefined || bootMs === undefined ? undefined : bootMs + uptime;
}

/** A time far from when the packet came is a wrong clock. */
function timeWithin(ms: number | undefined, receivedMs: number): number {
  const isUsable = ms !== undefined && ms <= receivedMs + MOST_AHEAD_MS && ms >= receivedMs - MOST_BEHIND_MS;
  return isUsable ? ms : receivedMs;
}

/** NetFlow says one packet in so many; IPFIX how many are taken, and how many left out. */
function samplingFrom(values: ReadonlyMap<number, Buffer>): number | undefined {
  const [taken, left] = [numberOf(values, ELEMENTS.sampledPackets), numberOf(values, ELEMENTS.skippedPackets)];
  if (taken !== undefined && left !== undefined && taken > 0) return Math.round((taken + left) / taken);
  return numberOf(values, ELEMENTS.sampling);
}

function firstOf(values: ReadonlyMap<number, Buffer>, types: readonly number[]): Buffer | undefined {
  for (const type of types) {
    const value = values.get(type);
    if (value !== undefined && value.length > 0) return value;
  }
  return undefined;
}

function numberOf(values: ReadonlyMap<number, Buffer>, types: readonly number[]): number | undefined {
  const value = firstOf(values, types);
  if (value === undefined || value.length > 8) return undefined;
  if (value.length <= 6) return value.readUIntBE(0, value.length);
  return Number(BigInt(`0x${value.toString('hex')}`));
}

/** Canonical, as `canonicalAddress` writes it. */
function addressOf(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, i) => bytes.readUInt16BE(2 * i).toString(16));
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}

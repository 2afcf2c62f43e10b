/** Packets of MQTT 3.1.1 and 5 (OASIS), as far as a client that subscribes and publishes with QoS 0 and 1 needs them. */
type MqttVersion = '3.1.1' | '5';

const CONNECT = 1;
const CONNACK = 2;
const PUBLISH = 3;
const PUBACK = 4;
const SUBSCRIBE = 8;
const SUBACK = 9;
const PINGREQ = 12;
const PINGRESP = 13;
const DISCONNECT = 14;
/** Property of CONNECT: the largest packet that the broker may send. */
const MAXIMUM_PACKET_SIZE = 0x27;

const MAX_PACKET_BYTES = 256 * 1024;

export type MqttPacket =
  | { readonly type: 'connack'; readonly code: number }
  | {
      readonly type: 'publish';
      readonly topic: string;
      readonly payload: Buffer;
      readonly qos: number;
      readonly isRetained: boolean;
      readonly id: number;
    }
  | { readonly type: 'puback'; readonly id: number; readonly code: number }
  | { readonly type: 'suback'; readonly id: number; readonly codes: readonly number[] }
  | { readonly type: 'pingresp' }
  | { readonly type: 'disconnect'; readonly code: number };

/** The broker sent what is no MQTT. */
export class MqttFault extends Error {
  override readonly name = 'MqttFault';
}

interface ConnectOptions {
  readonly version: MqttVersion;
  readonly clientId: string;
  readonly keepAliveSeconds: number;
  readonly user: string | undefined;
  readonly password: string | undefined;
}

/** It begins a new session: a broker that kept one would send again what was meant for then. */
export function connectPacket({ version, clientId, keepAliveSeconds, user, password }: ConnectOptions): Buffer {
  const flags = 0x02 | (user === undefined ? 0 : 0x80) | (password === undefined ? 0 : 0x40);
  const largest = Buffer.alloc(5);
  largest[0] = MAXIMUM_PACKET_SIZE;
  largest.writeUInt32BE(MAX_PACKET_BYTES, 1);
  return packet(CONNECT << 4, [
    text('MQTT'),
    Buffer.from([version === '5' ? 5 : 4, flags]),
    uint16(keepAliveSeconds),
    version === '5' ? Buffer.concat([Buffer.from([largest.length]), largest]) : Buffer.alloc(0),
    text(clientId),
    ...(user === undefined ? [] : [text(user)]),
    ...(password === undefined ? [] : [text(password)]),
  ]);
}

interface PublishOptions {
  readonly version: MqttVersion;
  readonly topic: string;
  readonly payload: string;
  readonly qos: number;
  readonly id: number;
}

/** Never retained: whoever subscribes later must not take a command of before for one of now. */
export function publishPacket({ version, topic, payload, qos, id }: PublishOptions): Buffer {
  return packet((PUBLISH << 4) | (qos << 1), [
    text(topic),
    ...(qos > 0 ? [uint16(id)] : []),
    noProperties(version),
    Buffer.from(payload),
  ]);
}

export function subscribePacket(
  version: MqttVersion,
  id: number,
  topics: readonly (readonly [topic: string, qos: number])[],
): Buffer {
  const filters = topics.map(([topic, qos]) => Buffer.concat([text(topic), Buffer.from([qos])]));
  return packet((SUBSCRIBE << 4) | 2, [uint16(id), noProperties(version), ...filters]);
}

export function pubackPacket(id: number): Buffer {
  return packet(PUBACK << 4, [uint16(id)]);
}

export const PING_PACKET = Buffer.from([PINGREQ << 4, 0]);
export const DISCONNECT_PACKET = Buffer.from([DISCONNECT << 4, 0]);

/** Cuts a stream of bytes into packets. Those that are too large are left out. */
export class MqttReader {
  readonly #version: MqttVersion;
  #received: Buffer = Buffer.alloc(0);
  #nToSkip = 0;

  constructor(version: MqttVersion) {
    this.#version = version;
  }

  /** Throws MqttFault. */
  *take(chunk: Buffer): Generator<MqttPacket> {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    for (;;) {
      const skipped = Math.min(this.#nToSkip, this.#received.length);
      this.#nToSkip -= skipped;
      this.#received = this.#received.subarray(skipped);
      const head = headOf(this.#received);
      if (head === undefined) return;
      if (head.length > MAX_PACKET_BYTES) {
        this.#nToSkip = head.size + head.length;
        continue;
      }
      if (this.#received.length < head.size + head.length) return;
      const body = this.#received.subarray(head.size, head.size + head.length);
      this.#received = this.#received.subarray(head.size + head.length);
      yield read(head.first, body, this.#version);
    }
  }
}

/** Undefined: it has not come whole. */
function headOf(bytes: Buffer): { first: number; length: number; size: number } | undefined {
  let length = 0;
  for (let i = 1; i < bytes.length; i += 1) {
    const byte = bytes[i] ?? 0;
    length += (byte & 0x7f) * 0x80 ** (i - 1);
    if ((byte & 0x80) === 0) return { first: bytes[0] ?? 0, length, size: i + 1 };
    if (i === 4) throw new MqttFault('a length has more than four bytes');
  }
  return undefined;
}

function read(first: number, body: Buffer, version: MqttVersion): MqttPacket {
  try {
    return readPacket(first, new Cursor(body), version);
  } catch (error) {
    if (error instanceof RangeError) throw new MqttFault('a packet is cut off', { cause: error });
    throw error;
  }
}

function readPacket(first: number, at: Cursor, version: MqttVersion): MqttPacket {
  const isFive = version === '5';
  switch (first >> 4) {
    case CONNACK:
      at.byte();
      return { type: 'connack', code: at.byte() };
    case PUBLISH: {
      const qos = (first >> 1) & 3;
      if (qos > 1) throw new MqttFault('a message has a QoS that was not asked for');
      const topic = at.text();
      const id = qos > 0 ? at.uint16() : 0;
      if (isFive) at.skip(at.variable());
      return { type: 'publish', topic, payload: at.rest(), qos, isRetained: (first & 1) === 1, id };
    }
    case PUBACK:
      return { type: 'puback', id: at.uint16(), code: at.isAtEnd ? 0 : at.byte() };
    case SUBACK: {
      const id = at.uint16();
      if (isFive) at.skip(at.variable());
      return { type: 'suback', id, codes: [...at.rest()] };
    }
    case PINGRESP:
      return { type: 'pingresp' };
    case DISCONNECT:
      return { type: 'disconnect', code: at.isAtEnd ? 0 : at.byte() };
    default:
      throw new MqttFault(`a packet of the type ${first >> 4} came`);
  }
}

/** Reads from the beginning on. Throws RangeError behind the end. */
class Cursor {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  byte(): number {
    return this.#bytes.readUInt8(this.#forward(1));
  }

  uint16(): number {
    return this.#bytes.readUInt16BE(this.#forward(2));
  }

  text(): string {
    const length = this.uint16();
    const from = this.#forward(length);
    return this.#bytes.toString('utf8', from, from + length);
  }

  variable(): number {
    let value = 0;
    for (let i = 0; i < 4; i += 1) {
      const byte = this.byte();
      value += (byte & 0x7f) * 0x80 ** i;
      if ((byte & 0x80) === 0) return value;
    }
    throw new RangeError('a length has more than four bytes');
  }

  skip(n: number): void {
    this.#forward(n);
  }

  rest(): Buffer {
    return this.#bytes.subarray(this.#at);
  }

  #forward(n: number): number {
    const from = this.#at;
    if (from + n > this.#bytes.length) throw new RangeError('behind the end');
    this.#at += n;
    return from;
  }
}

function packet(first: number, parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const length: number[] = [];
  let left = body.length;
  do {
    length.push((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
    left >>= 7;
  } while (left > 0);
  return Buffer.concat([Buffer.from([first, ...length]), body]);
}

function noProperties(version: MqttVersion): Buffer {
  return version === '5' ? Buffer.from([0]) : Buffer.alloc(0);
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([uint16(bytes.length), bytes]);
}

/** Devices behind an MQTT broker. Each connection is a new session, and what was published once is never published again. */
import type { Socket } from 'node:net';
import { type Connection, isReadable, type ReadSpec, type Value, type Variable, type WriteSpec } from '../profile.ts';
import { filled, timeFrom, valueAt } from '../values.ts';
import { type Connector, type ConnectorDeps, DeviceFailure, reasonOf } from './connector.ts';
import {
  connectPacket,
  DISCONNECT_PACKET,
  type MqttPacket,
  MqttReader,
  PING_PACKET,
  pubackPacket,
  publishPacket,
  subscribePacket,
} from './mqtt-packets.ts';

const DEFAULTS = { version: '3.1.1', keep_alive_seconds: 20, timeout_seconds: 5 } as const;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 30_000;
/** Return codes of 3.1.1 are below, reason codes of 5 at or above this one. */
const FIRST_FAILURE = 0x80;

type MqttConnection = Connection<'mqtt'>;
type Published = Extract<MqttPacket, { type: 'publish' }>;

export function mqtt(deps: ConnectorDeps): Connector {
  const session = new MqttSession(deps);
  return {
    pollMs: undefined,
    open: () => session.open(),
    close: async () => session.close(),
    write: (variable, value, signal) => session.publish(variable, value, signal),
  };
}

class MqttSession {
  readonly #deps: ConnectorDeps;
  readonly #settings: MqttConnection & Required<Pick<MqttConnection, 'version' | 'keep_alive_seconds' | 'timeout_seconds'>>;
  readonly #byTopic: ReadonlyMap<string, readonly Variable[]>;
  readonly #waiting = new Map<number, (outcome: DeviceFailure | undefined) => void>();
  #socket: Socket | undefined;
  #isReady = false;
  #isClosed = true;
  #pauseMs = FIRST_PAUSE_MS;
  #timer: NodeJS.Timeout | undefined;
  #lastId = 0;
  #heardAt = 0;

  constructor(deps: ConnectorDeps) {
    this.#deps = deps;
    const { connection, variables } = deps.device;
    this.#settings = { ...DEFAULTS, ...(connection as MqttConnection) };
    this.#byTopic = Map.groupBy(variables.filter(isReadable), (variable) => specOf(variable).topic);
  }

  open(): void {
    this.#isClosed = false;
    this.#connect();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    if (this.#isReady) this.#socket?.write(DISCONNECT_PACKET);
    this.#lost('the connection was closed');
  }

  async publish({ write = {} }: Variable, value: Value, signal: AbortSignal): Promise<void> {
    const { topic, qos = 1, body } = write as WriteSpec<'mqtt'>;
    const { version, timeout_seconds: seconds } = this.#settings;
    const socket = this.#socket;
    if (!this.#isReady || socket === undefined) throw new DeviceFailure('unsent', 'the broker cannot be reached');
    const id = this.#newId();
    const made = filled(body, value);
    const payload = typeof made === 'string' ? made : JSON.stringify(made);
    if (qos === 0) return void socket.write(publishPacket({ version, topic, payload, qos, id }));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const limit = AbortSignal.any([signal, AbortSignal.timeout(seconds * 1000)]);
    const abort = (): void => reject(new DeviceFailure('unknown', 'the broker did not answer in time', limit.reason));
    limit.addEventListener('abort', abort, { once: true });
    this.#waiting.set(id, (failure) => (failure === undefined ? resolve() : reject(failure)));
    socket.write(publishPacket({ version, topic, payload, qos, id }));
    try {
      await promise;
    } finally {
      this.#waiting.delete(id);
      limit.removeEventListener('abort', abort);
    }
  }

  #connect(): void {
    const { url, version, user, client_id: clientId, keep_alive_seconds: keepAliveSeconds } = this.#settings;
    const { hostname: host, port, protocol } = new URL(url);
    const isSecure = protocol === 'mqtts:';
    let socket: Socket;
    try {
      socket = this.#deps.sockets.connect({ host, port: Number(port) || (isSecure ? 8883 : 1883), isSecure });
    } catch (error) {
      this.#tryLater(error instanceof Error ? error.message : 'the connection failed');
      return;
    }
    this.#socket = socket;
    const reader = new MqttReader(version);
    let reason = 'the broker closed the connection';
    const end = (why: string): void => {
      reason = why;
      socket.destroy();
    };
    socket.on('error', (error) => (reason = reasonOf(error)));
    socket.on('close', () => {
      if (this.#socket !== socket) return;
      this.#lost(reason);
      this.#tryLater(reason);
    });
    socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      this.#heardAt = performance.now();
      this.#watch(socket, end);
      const password = user === undefined ? undefined : this.#deps.key;
      socket.write(
        connectPacket({
          version,
          clientId: clientId ?? `svc-${this.#deps.device.id.slice(-23)}`,
          keepAliveSeconds,
          user,
          password,
        }),
      );
    });
    socket.on('data', (chunk) => {
      this.#heardAt = performance.now();
      try {
        for (const packet of reader.take(chunk)) this.#take(socket, packet, end);
      } catch (error) {
        end(`the broker sent no MQTT: ${(error as Error).message}`);
      }
    });
  }

  /** Asks whether the broker is there, and ends a connection on which nothing comes. */
  #watch(socket: Socket, end: (why: string) => void): void {
    const periodMs = this.#settings.keep_alive_seconds * 500;
    const timer = setInterval(() => {
      if (performance.now() - this.#heardAt > 4 * periodMs) end('the broker fell silent');
      else if (this.#isReady) socket.write(PING_PACKET);
    }, periodMs).unref();
    socket.once('close', () => clearInterval(timer));
  }

  #take(socket: Socket, packet: MqttPacket, end: (why: string) => void): void {
    if (this.#socket !== socket) return;
    if (packet.type === 'publish') this.#tell(socket, packet);
    else if (packet.type === 'suback') this.#subscribed(packet.codes);
    else if (packet.type === 'puback') this.#acknowledged(packet);
    else if (packet.type === 'disconnect') end(`the broker ended the connection with the code ${packet.code}`);
    else if (packet.type === 'connack' && packet.code === 0) this.#begin(socket);
    else if (packet.type === 'connack') end(`the broker refuses the connection with the code ${packet.code}`);
  }

  #acknowledged({ id, code }: Extract<MqttPacket, { type: 'puback' }>): void {
    const refusal = `the broker refuses the message with the code ${code}`;
    this.#waiting.get(id)?.(code < FIRST_FAILURE ? undefined : new DeviceFailure('refused', refusal));
  }

  #begin(socket: Socket): void {
    this.#isReady = true;
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#deps.onState(true);
    const topics = [...this.#byTopic].map(([topic, of]) => [topic, Math.max(...of.map((one) => specOf(one).qos ?? 0))] as const);
    if (topics.length > 0) socket.write(subscribePacket(this.#settings.version, this.#newId(), topics));
  }

  /** Codes come in the order of the topics. */
  #subscribed(codes: readonly number[]): void {
    [...this.#byTopic.values()].forEach((variables, i) => {
      if ((codes[i] ?? 0) < FIRST_FAILURE) return;
      for (const { name } of variables) this.#deps.onReading(name, { raw: null, badReason: 'the broker refuses the topic' });
    });
  }

  #tell(socket: Socket, { topic, payload, qos, isRetained, id }: Published): void {
    if (qos === 1) socket.write(pubackPacket(id));
    const text = payload.toString();
    const document = parsed(text);
    for (const variable of this.#byTopic.get(topic) ?? []) {
      const { pointer, time_pointer: timePointer, sentinel } = specOf(variable);
      const raw = pointer === undefined ? (typeof document === 'object' ? text : (document ?? text)) : valueAt(document, pointer);
      const at = timePointer === undefined ? undefined : timeFrom(valueAt(document, timePointer));
      const isNone = sentinel !== undefined && raw === sentinel;
      this.#deps.onReading(variable.name, { raw, at, isRetained, badReason: isNone ? 'the device has no value' : undefined });
    }
  }

  #lost(reason: string): void {
    this.#isReady = false;
    const socket = this.#socket;
    this.#socket = undefined;
    if (this.#isClosed) socket?.destroySoon();
    for (const settle of this.#waiting.values()) settle(new DeviceFailure('unknown', 'the connection ended before the answer'));
    this.#deps.onState(false, reason);
  }

  /** Clients of a broker that comes back do not all come at once. */
  #tryLater(reason: string): void {
    if (this.#isClosed) return;
    this.#deps.onState(false, reason);
    this.#timer = setTimeout(() => this.#connect(), this.#pauseMs * (0.5 + Math.random() / 2)).unref();
    this.#pauseMs = Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS);
  }

  #newId(): number {
    this.#lastId = (this.#lastId % 0xffff) + 1;
    return this.#lastId;
  }
}

function specOf({ read }: Variable): ReadSpec<'mqtt'> {
  return read as unknown as ReadSpec<'mqtt'>;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

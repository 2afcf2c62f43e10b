/** One connection to a Modbus device (Modbus Messaging on TCP/IP 1.0b): one request after the other, each sent once. */
import type { Socket } from 'node:net';
import { DeviceFailure, reasonOf } from './connector.ts';

interface ModbusLinkOptions {
  readonly connect: () => Socket;
  readonly unitId: number;
  readonly timeoutMs: number;
}

interface OpenRequest {
  readonly transaction: number;
  readonly functionCode: number;
  readonly resolve: (data: Buffer) => void;
  readonly reject: (error: Error) => void;
}

const HEADER_BYTES = 7;
/** Unit, function and at most 253 bytes. */
const MAX_LENGTH = 254;
const EXCEPTIONS: Readonly<Record<number, string>> = {
  1: 'it does not know the function',
  2: 'it has no such register',
  3: 'it does not take the value',
  4: 'it failed',
  5: 'it is still at it',
  6: 'it is busy',
  8: 'its memory is damaged',
  10: 'its gateway has no way there',
  11: 'the device behind its gateway does not answer',
};
/** The device may have begun with what was asked. */
const STILL_AT_IT = 5;

export class ModbusLink {
  readonly #options: ModbusLinkOptions;
  #socket: Socket | undefined;
  #received = Buffer.alloc(0);
  #open: OpenRequest | undefined;
  #transaction = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: ModbusLinkOptions) {
    this.#options = options;
  }

  close(): void {
    this.#drop(new DeviceFailure('unknown', 'the connection was closed'));
  }

  /** Resolves to what follows the function code in the answer. Throws DeviceFailure: `unsent` where no byte of the request left. */
  request(functionCode: number, data: Buffer, signal: AbortSignal): Promise<Buffer> {
    const asked = this.#last.then(() => this.#request(functionCode, data, signal));
    this.#last = asked.catch(() => undefined);
    return asked;
  }

  async #request(functionCode: number, data: Buffer, signal: AbortSignal): Promise<Buffer> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(this.#options.timeoutMs)]);
    const socket = await this.#connected(limit).catch((error: unknown) => {
      throw new DeviceFailure('unsent', reasonOf(error), error);
    });
    this.#transaction = (this.#transaction + 1) % 0x1_0000;
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    this.#open = { transaction: this.#transaction, functionCode, resolve, reject };
    // An answer that comes later belongs to nobody, so the connection ends with the request.
    const abort = (): void => this.#drop(new DeviceFailure('unknown', 'no answer came in time', limit.reason));
    limit.addEventListener('abort', abort, { once: true });
    const header = Buffer.alloc(HEADER_BYTES + 1);
    header.writeUInt16BE(this.#transaction, 0);
    header.writeUInt16BE(data.length + 2, 4);
    header[6] = this.#options.unitId;
    header[7] = functionCode;
    socket.write(Buffer.concat([header, data]));
    try {
      return await promise;
    } finally {
      limit.removeEventListener('abort', abort);
    }
  }

  async #connected(signal: AbortSignal): Promise<Socket> {
    signal.throwIfAborted();
    if (this.#socket?.readyState === 'open') return this.#socket;
    this.#drop(new DeviceFailure('unknown', 'the connection ended'));
    const socket = this.#options.connect();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const abort = (): void => void socket.destroy(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    socket.on('connect', resolve).on('error', reject);
    socket.on('close', () => reject(new Error('the connection ended')));
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', abort);
    }
    this.#socket = socket;
    this.#received = Buffer.alloc(0);
    socket.on('data', (chunk) => this.#take(socket, chunk));
    socket.on('close', () => {
      if (this.#socket === socket) this.#drop(new DeviceFailure('unknown', 'the connection ended before the answer'));
    });
    return socket;
  }

  #take(socket: Socket, chunk: Buffer): void {
    if (socket !== this.#socket) return;
    this.#received = Buffer.concat([this.#received, chunk]);
    while (this.#received.length >= HEADER_BYTES) {
      const length = this.#received.readUInt16BE(4);
      const isModbus = this.#received.readUInt16BE(2) === 0 && length >= 2 && length <= MAX_LENGTH;
      if (!isModbus) {
        this.#drop(new DeviceFailure('unknown', 'its answer is no Modbus'));
        return;
      }
      if (this.#received.length < HEADER_BYTES - 1 + length) return;
      const frame = this.#received.subarray(0, HEADER_BYTES - 1 + length);
      this.#received = this.#received.subarray(frame.length);
      this.#answer(frame);
    }
  }

  #answer(frame: Buffer): void {
    const open = this.#open;
    const functionCode = frame[7] ?? 0;
    if (open === undefined || frame.readUInt16BE(0) !== open.transaction || frame[6] !== this.#options.unitId) return;
    this.#open = undefined;
    if (functionCode === open.functionCode) open.resolve(Buffer.from(frame.subarray(8)));
    else open.reject(refusalOf(functionCode, open.functionCode, frame[8] ?? 0));
  }

  #drop(reason: Error): void {
    const open = this.#open;
    this.#open = undefined;
    this.#socket?.on('error', () => undefined).destroy();
    this.#socket = undefined;
    open?.reject(reason);
  }
}

function refusalOf(functionCode: number, asked: number, code: number): DeviceFailure {
  if (functionCode !== (asked | 0x80)) return new DeviceFailure('unknown', 'its answer is to another request');
  const kind = code === STILL_AT_IT ? 'unknown' : 'refused';
  return new DeviceFailure(kind, EXCEPTIONS[code] ?? `it answered with the exception ${code}`);
}

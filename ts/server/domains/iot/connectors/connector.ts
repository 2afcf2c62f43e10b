/** How devices of one kind are reached. A connector tells what comes, and sends a write once or not at all. */
import type { HttpClient } from '../../../platform/network/http-client.ts';
import type { Device, Value, Variable } from '../profile.ts';
import type { RawReading } from '../readings.ts';
import type { StreamSockets } from './stream-sockets.ts';

export interface ConnectorDeps {
  readonly device: Device;
  /** The secret of the device; undefined: it has none. */
  readonly key: string | undefined;
  readonly http: HttpClient;
  readonly sockets: StreamSockets;
  readonly now: () => number;
  onReading(variable: string, reading: RawReading): void;
  /** A connector that is asked tells it by the outcome of `poll`. */
  onState(isConnected: boolean, reason?: string): void;
}

export interface Connector {
  /** It is asked so often; undefined: what is new comes by itself. */
  readonly pollMs: number | undefined;
  open(): void;
  close(): Promise<void>;
  /** Reads the variables. Throws DeviceFailure. */
  poll?(variables: readonly Variable[], signal: AbortSignal): Promise<void>;
  /** Sends the value, once. Throws DeviceFailure. */
  write(variable: Variable, value: Value, signal: AbortSignal): Promise<void>;
}

/** `unsent`: no byte left. `refused`: the device does not do it. `unknown`: it was sent, and no answer came. */
type FailureKind = 'unsent' | 'refused' | 'unknown';

export class DeviceFailure extends Error {
  override readonly name = 'DeviceFailure';
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}

/** The reason that may be shown: names and addresses inside the network stay out of it. */
export function reasonOf(error: unknown): string {
  if (error instanceof DeviceFailure) return error.message;
  const { code, name } = error as NodeJS.ErrnoException;
  if (name === 'TimeoutError') return 'no answer came in time';
  return code ?? 'the connection failed';
}

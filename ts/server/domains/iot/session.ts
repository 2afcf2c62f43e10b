/** One device that a node is connected to: what it says, and one write at a time. */
import { setTimeout as sleep } from 'node:timers/promises';
import { linkSignals } from '../../platform/linked-signal.ts';
import type { Log } from '../../platform/log/log.ts';
import { Repeater } from '../../platform/repeater.ts';
import { type Connector, type ConnectorDeps, DeviceFailure, reasonOf } from './connectors/connector.ts';
import { type Device, isReadable, type Value, type Variable } from './profile.ts';
import { type RawReading, type Reading, Readings } from './readings.ts';
import { isSameValue } from './values.ts';

interface SessionDeps {
  readonly device: Device;
  readonly log: Log;
  readonly now: () => number;
  connect(about: Pick<ConnectorDeps, 'device' | 'onReading' | 'onState'>): Connector;
  onReading(device: Device, variable: Variable, reading: Reading, badReason: string | undefined): void;
}

const POLL_TIMEOUT_MS = 60_000;
/** A device that tells by itself has so long to tell of a write. */
const READ_BACK_MS = 3_000;
const READ_BACK_TRIES = 4;
const READ_BACK_PAUSE_MS = 150;

export class DeviceSession {
  readonly device: Device;
  readonly #deps: SessionDeps;
  readonly #readings: Readings;
  readonly #connector: Connector;
  readonly #poller: Repeater | undefined;
  readonly #stopped = new AbortController();
  #polling: Promise<void> = Promise.resolve();
  #reason = 'it was not reached yet';
  #isWriting = false;

  constructor(deps: SessionDeps) {
    this.#deps = deps;
    this.device = deps.device;
    this.#readings = new Readings(deps.device);
    this.#connector = deps.connect({
      device: deps.device,
      onReading: (name, reading) => this.#take(name, reading),
      onState: (isConnected, reason) => this.#setConnected(isConnected, reason),
    });
    const { pollMs } = this.#connector;
    if (pollMs === undefined) return;
    const onError = (error: unknown): void => deps.log.error('a device could not be read', { device: deps.device.id, error });
    this.#poller = new Repeater({
      intervalMs: pollMs,
      run: () => this.refresh(this.device.variables.filter(isReadable)),
      onError,
    });
  }

  get isConnected(): boolean {
    return this.#readings.isConnected;
  }

  get lastSeen(): number | undefined {
    return this.#readings.lastSeen;
  }

  /** Why it is not connected. */
  get reason(): string {
    return this.#reason;
  }

  open(): void {
    this.#connector.open();
    this.#poller?.start();
  }

  async close(): Promise<void> {
    this.#stopped.abort(new Error('the device is closed'));
    await this.#connector.close();
    await this.#poller?.stop();
  }

  reading(variable: Variable): Reading {
    return this.#readings.get(variable, this.#deps.now());
  }

  /** Reads variables of a device that is asked. One that tells by itself is not asked. */
  async refresh(variables: readonly Variable[]): Promise<void> {
    const polled = this.#polling.then(() => this.#poll(variables));
    this.#polling = polled;
    await polled;
  }

  /**
   * Takes the device for one write. Undefined: another one has it. Whoever takes it releases it.
   */
  take(): { release(): void } | undefined {
    if (this.#isWriting) return undefined;
    this.#isWriting = true;
    return { release: () => (this.#isWriting = false) };
  }

  /** Sends the value once, and reads it back. Null: nothing could be read back. Throws DeviceFailure. */
  async write(variable: Variable, value: Value): Promise<Value | null> {
    const ended = linkSignals(this.#stopped.signal);
    const limit = linkSignals(ended.signal, AbortSignal.timeout(READ_BACK_MS));
    const isTold = this.#connector.pollMs === undefined && isReadable(variable);
    // Listening begins before, since the answer may come with the acknowledgement.
    const told = isTold ? this.#told(variable, value, limit.signal) : undefined;
    try {
      await this.#connector.write(variable, value, ended.signal);
      if (!isReadable(variable)) return null;
      return (await told) ?? (isTold ? null : await this.#readBack(variable, value));
    } finally {
      limit.unlink();
      ended.unlink();
    }
  }

  async #readBack(variable: Variable, value: Value): Promise<Value | null> {
    for (let n = 1; ; n += 1) {
      await this.refresh([variable]);
      const { value: read, quality } = this.reading(variable);
      const found = quality === 'good' || quality === 'stale' ? read : null;
      if (isSameValue(variable, value, found) || n >= READ_BACK_TRIES || this.#stopped.signal.aborted) return found;
      await sleep(READ_BACK_PAUSE_MS);
    }
  }

  /** The first value that is the written one, or the last that came in time. */
  async #told(variable: Variable, value: Value, signal: AbortSignal): Promise<Value | null> {
    let last: Value | null = null;
    while (!signal.aborted) {
      const next = await this.#readings.next(variable.name, signal).catch(() => undefined);
      if (next === undefined) break;
      last = next;
      if (isSameValue(variable, value, last)) break;
    }
    return last;
  }

  async #poll(variables: readonly Variable[]): Promise<void> {
    if (this.#connector.poll === undefined || variables.length === 0 || this.#stopped.signal.aborted) return;
    const { signal, unlink } = linkSignals(this.#stopped.signal, AbortSignal.timeout(POLL_TIMEOUT_MS));
    try {
      await this.#connector.poll(variables, signal);
      this.#setConnected(true);
    } catch (error) {
      if (this.#stopped.signal.aborted) return;
      if (!(error instanceof DeviceFailure) || error.kind !== 'refused') return this.#setConnected(false, reasonOf(error));
      this.#setConnected(true);
      for (const { name } of variables) this.#take(name, { raw: null, badReason: error.message });
    } finally {
      unlink();
    }
  }

  #take(name: string, raw: RawReading): void {
    // A device that is asked is connected once it answers.
    if (this.#connector.pollMs !== undefined) this.#setConnected(true);
    const { device, now, onReading } = this.#deps;
    const reading = this.#readings.take(name, raw, now());
    const variable = device.variables.find((one) => one.name === name);
    if (reading !== undefined && variable !== undefined) onReading(device, variable, reading, this.#readings.badReason(name));
  }

  #setConnected(isConnected: boolean, reason = 'the connection ended'): void {
    if (!isConnected) this.#reason = reason;
    if (isConnected === this.#readings.isConnected) return;
    const { device, log, onReading } = this.#deps;
    this.#readings.setConnected(isConnected);
    if (this.#stopped.signal.aborted) return;
    log.info(isConnected ? 'a device is connected' : 'a device is offline', {
      device: device.id,
      ...(!isConnected && { reason }),
    });
    if (isConnected) return;
    for (const variable of device.variables.filter(isReadable)) onReading(device, variable, this.reading(variable), undefined);
  }
}

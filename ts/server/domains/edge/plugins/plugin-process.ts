/** One plugin for one tenant in a confined process of ts/workers/run-plugin.ts, and what the server does for it. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConfinedProcess } from '../../../native/confined-process.ts';
import { DomainError } from '../../../platform/errors/domain-error.ts';
import { edgeError } from '../errors.ts';
import type { PluginFolder } from './plugin-folder.ts';

/** The things that a plugin may ask for; each answers with a JSON value, or throws. */
export interface PluginHost {
  fetch(request: Readonly<Record<string, unknown>>): Promise<unknown>;
  get(key: string): Promise<unknown>;
  set(key: string, value: string): Promise<unknown>;
  delete(key: string): Promise<unknown>;
  log(text: string): void;
}

interface PendingCall {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

type Message = Readonly<Record<string, unknown>>;

const SCRIPT = fileURLToPath(new URL('../../../../workers/run-plugin.ts', import.meta.url));
const DEFAULT_MEMORY_MIB = 128;
/** Node itself takes so much. */
const NODE_MIB = 96;
const CPU_SECONDS = 3_600;
/** A process whose program lets others run answers within this, also on a node that is busy. */
const STUCK_MS = 3_000;
const MAX_ASKED_AT_ONCE = 16;
const MAX_LOG_LINES_A_MINUTE = 100;

export class PluginProcess {
  readonly #process: ConfinedProcess;
  readonly #host: PluginHost;
  readonly #calls = new Map<number, PendingCall>();
  readonly #id: string;
  #nCalls = 0;
  #nAsked = 0;
  #nLogged = 0;
  #logMinute = 0;
  /** Runs while it is asked whether it still answers. */
  #stuck: NodeJS.Timeout | undefined;

  constructor({ path, manifest }: PluginFolder, host: PluginHost, onEnd: () => void) {
    this.#host = host;
    this.#id = manifest.id;
    this.#process = new ConfinedProcess({
      script: SCRIPT,
      args: [join(path, manifest.entry)],
      readable: [path],
      memoryMiB: NODE_MIB + (manifest.memory_mib ?? DEFAULT_MEMORY_MIB),
      cpuSeconds: CPU_SECONDS,
      onMessage: (message) => this.#receive((message ?? {}) as Message),
      onEnd: () => {
        this.#clearStuck();
        for (const call of this.#calls.values())
          call.reject(this.#failed('its process ended: it left, or it took more memory or time than it may'));
        this.#calls.clear();
        onEnd();
      },
    });
  }

  get isIdle(): boolean {
    return this.#calls.size === 0;
  }

  get isOver(): boolean {
    return this.#process.isOver;
  }

  /** Rejects with the signal's reason. A process that does nothing but compute by then is ended, with every other call in it: nothing else stops it. */
  async call(tool: string, args: unknown, signal: AbortSignal): Promise<unknown> {
    if (this.isOver) throw this.#failed('its process could not be started');
    this.#nCalls += 1;
    const id = this.#nCalls;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#calls.set(id, { resolve, reject });
    const abort = (): void => {
      reject(signal.reason);
      this.#endIfStuck();
    };
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    this.#process.send({ call: id, tool, args });
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', abort);
      this.#calls.delete(id);
    }
  }

  #endIfStuck(): void {
    if (this.isOver) return;
    this.#stuck ??= setTimeout(() => this.end(), STUCK_MS);
    this.#process.send({ ping: 1 });
  }

  end(): void {
    this.#process.end();
  }

  #receive(message: Message): void {
    const { end, ask, log, pong } = message;
    if (pong !== undefined) this.#clearStuck();
    if (typeof log === 'string') this.#log(log);
    if (typeof ask === 'number') void this.#answer(ask, message);
    if (typeof end !== 'number') return;
    const { value, error } = message;
    if (typeof error === 'string') this.#calls.get(end)?.reject(this.#failed(error.slice(0, 2_000)));
    else this.#calls.get(end)?.resolve(value);
  }

  async #answer(id: number, message: Message): Promise<void> {
    this.#nAsked += 1;
    try {
      if (this.#nAsked > MAX_ASKED_AT_ONCE) throw this.#failed(`it asks for more than ${MAX_ASKED_AT_ONCE} things at once`);
      this.#process.send({ answer: id, value: (await this.#do(message)) ?? null });
    } catch (error) {
      this.#process.send({ answer: id, error: error instanceof DomainError ? error.message : 'the server could not do it' });
    } finally {
      this.#nAsked -= 1;
    }
  }

  async #do(message: Message): Promise<unknown> {
    const { kind, key, value } = message;
    if (kind === 'fetch') return await this.#host.fetch(message);
    if (typeof key !== 'string') throw this.#failed('a key is a text');
    if (kind === 'get') return await this.#host.get(key);
    if (kind === 'delete') return await this.#host.delete(key);
    if (kind === 'set' && typeof value === 'string') return await this.#host.set(key, value);
    throw this.#failed('a value is a text');
  }

  #clearStuck(): void {
    clearTimeout(this.#stuck);
    this.#stuck = undefined;
  }

  #log(text: string): void {
    const minute = Math.floor(Date.now() / 60_000);
    this.#nLogged = minute === this.#logMinute ? this.#nLogged + 1 : 1;
    this.#logMinute = minute;
    if (this.#nLogged <= MAX_LOG_LINES_A_MINUTE) this.#host.log(text.slice(0, 1_000));
  }

  #failed(reason: string) {
    return edgeError('plugin_failed', `The plugin ${this.#id} failed: ${reason}.`);
  }
}

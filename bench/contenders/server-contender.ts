/** A server in its own process, measured by a client in another. */
import { rmSync } from 'node:fs';
import type { ChildServer } from '../../test/child-server.ts';
import { runChat } from '../load/chat.ts';
import { runEmbeddings } from '../load/embeddings.ts';
import type { ClosedLoad, Load } from '../load/load.ts';
import type { TenantKeys } from '../load/tenant-keys.ts';
import { runWrk } from '../load/wrk.ts';
import { readUsage } from '../process-usage.ts';
import type { Sample } from '../trial.ts';
import type { RunningContender } from './contender.ts';

/** About a second on a small machine. */
const warmUp: ClosedLoad = { kind: 'closed', clients: 4, requestsPerClient: 3, ownWords: 40, maxTokens: 64 };

export interface ServerEnd {
  /** How long the server may take to end before it is killed. */
  mostStopMs?: number;
  tenantKeys?: TenantKeys;
  /** The server's own, removed when it has ended. */
  dataFolder?: string;
}

export class ServerContender implements RunningContender {
  readonly #server: ChildServer;
  readonly #end: ServerEnd;

  constructor(server: ChildServer, end: ServerEnd = {}) {
    this.#server = server;
    this.#end = end;
  }

  get httpMs(): number {
    return this.#server.httpMs;
  }

  warmUp(): Promise<Sample> {
    return runChat(this.#server, warmUp, 1, this.#end.tenantKeys);
  }

  /** With what the server itself used meanwhile. */
  async measure(load: Load, seed: number): Promise<Sample | undefined> {
    const before = readUsage(this.#server.pid);
    const sample = await this.#run(load, seed);
    const after = readUsage(this.#server.pid);
    const used = { serverCpuSeconds: after.cpuSeconds - before.cpuSeconds, serverRssMiB: after.rssBytes / 2 ** 20 };
    return sample && { ...sample, ...used };
  }

  async stop(): Promise<void> {
    const { mostStopMs, dataFolder } = this.#end;
    await this.#server.stop('SIGTERM', mostStopMs);
    if (dataFolder !== undefined) rmSync(dataFolder, { recursive: true, force: true });
  }

  async #run(load: Load, seed: number): Promise<Sample | undefined> {
    switch (load.kind) {
      case 'wrk':
        return runWrk(this.#server.url + load.path, load);
      case 'embeddings':
        return runEmbeddings(this.#server, load, seed);
      // No work of a running server.
      case 'kernel':
      case 'vectors':
      case 'ingest':
      case 'cloud-requests':
      case 'cloud-streams':
      case 'tool-rounds':
      case 'mcp-calls':
      case 'durable-steps':
      case 'quotes':
      case 'logs':
      case 'devices':
      case 'speech':
      case 'start':
        return undefined;
      default:
        return runChat(this.#server, load, seed, this.#end.tenantKeys);
    }
  }
}

/** A server in its own process, measured by a client in another. */
import type { ChildServer } from '../../test/child-server.ts';
import { runChat } from '../load/chat.ts';
import { runEmbeddings } from '../load/embeddings.ts';
import type { ClosedLoad, Load } from '../load/load.ts';
import { runWrk } from '../load/wrk.ts';
import type { Sample } from '../trial.ts';
import type { RunningContender } from './contender.ts';

/** About a second on a small machine. */
const warmUp: ClosedLoad = { kind: 'closed', clients: 4, requestsPerClient: 3, ownWords: 40, maxTokens: 64 };

export class ServerContender implements RunningContender {
  readonly #server: ChildServer;
  readonly #mostStopMs: number;

  /** @param mostStopMs how long the server may take to end before it is killed */
  constructor(server: ChildServer, mostStopMs = 30_000) {
    this.#server = server;
    this.#mostStopMs = mostStopMs;
  }

  warmUp(): Promise<Sample> {
    return runChat(this.#server, warmUp, 1);
  }

  async measure(load: Load, seed: number): Promise<Sample | undefined> {
    switch (load.kind) {
      case 'wrk':
        return runWrk(this.#server.url + load.path, load);
      case 'embeddings':
        return runEmbeddings(this.#server, load, seed);
      // No work of a running server.
      case 'kernel':
      case 'start':
        return undefined;
      default:
        return runChat(this.#server, load, seed);
    }
  }

  stop(): Promise<unknown> {
    return this.#server.stop('SIGTERM', this.#mostStopMs);
  }
}

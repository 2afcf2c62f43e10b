/** A server in its own process, measured by a client in another. */
import type { ChildServer } from '../../test/child-server.ts';
import { runChat } from '../load/chat.ts';
import type { Load } from '../load/load.ts';
import { runWrk } from '../load/wrk.ts';
import type { Sample } from '../trial.ts';
import type { RunningContender } from './contender.ts';

export class ServerContender implements RunningContender {
  readonly #server: ChildServer;

  constructor(server: ChildServer) {
    this.#server = server;
  }

  measure(load: Load, seed: number): Promise<Sample> {
    if (load.kind === 'wrk') return runWrk(this.#server.url + load.path, load);
    return runChat(this.#server, load, seed);
  }

  stop(): Promise<unknown> {
    return this.#server.stop();
  }
}

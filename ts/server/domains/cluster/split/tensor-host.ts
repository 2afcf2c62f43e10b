/**
 * Lends this node's memory and cores to a model that another node serves: an RPC server of llama.cpp for each, confined, on loopback, behind a tunnel
 * that the one node alone can enter. Upstream calls the RPC server insecure: it is started only where the operator has put the programs.
 */
import type { Log } from '../../../platform/log/log.ts';
import { decode, encode } from '../link/frames.ts';
import type { LinkRequest } from '../link/link-listener.ts';
import type { NodeCertificate } from '../link/node-certificate.ts';
import { SplitProcess } from './split-process.ts';
import { findSplitPrograms, rpcServerCommand } from './split-programs.ts';

export const SPLIT_PATH = '/split';

interface TensorHostParts {
  readonly log: Log;
  /** The settings `inference.split_programs` and `inference.split_port`, and where the node is installed. */
  readonly programs: string;
  readonly port: number;
  readonly installRoot: string;
  /** The host of `cluster.listen`. */
  readonly host: string;
  certificate(): NodeCertificate;
}

interface HostedServer {
  readonly port: number;
}

interface Hosted {
  readonly node: string;
  readonly running: SplitProcess;
}

/** One that nobody asks for so long ends. */
const IDLE_MS = 60_000;
const MOST_ASKED_BYTES = 8 * 1024;
/** Each is two processes. */
const MOST_HOSTED = 8;

export class TensorHost {
  readonly #parts: TensorHostParts;
  /** A server is found by the node that asked and its model. */
  readonly #hosted = new Map<string, Hosted>();
  /** One begins after the other: of two that are asked for at once for one model the first would be lost. */
  #last: Promise<unknown> = Promise.resolve();
  #hasStopped = false;

  constructor(parts: TensorHostParts) {
    this.#parts = parts;
  }

  /** Answers another node of the cluster. */
  async answer({ from, certificate, body, response }: LinkRequest): Promise<void> {
    const { model } = decode(await body(MOST_ASKED_BYTES)) as { model: unknown };
    try {
      const hosted = await this.serve(from, certificate, String(model).slice(0, 300));
      response.writeHead(200, { 'content-type': 'application/json' }).end(encode(hosted));
    } catch (error) {
      this.#parts.log.warn('this node lends nothing', { node: from, error: String(error) });
      response.writeHead(503, { 'content-type': 'application/json' }).end(encode({ detail: (error as Error).message }));
    }
  }

  /** A server that was hosted for the same model before ends. Throws where there is none to lend. */
  async serve(node: string, fingerprint: string, model: string): Promise<HostedServer> {
    const started = this.#last.then(() => this.#start(node, fingerprint, model));
    this.#last = started.catch(() => undefined);
    const { running } = await started;
    return { port: await running.port };
  }

  async #start(node: string, fingerprint: string, model: string): Promise<Hosted> {
    const { programs, installRoot, host, port, certificate, log } = this.#parts;
    const folder = findSplitPrograms(programs, installRoot);
    if (folder === undefined) throw new Error('it has no programs for split models: see inference.split_programs');
    const key = `${node} ${model}`;
    await this.#hosted.get(key)?.running.end();
    if (this.#hasStopped) throw new Error('it is about to end');
    if (this.#hosted.size >= MOST_HOSTED) throw new Error(`it lends itself to ${MOST_HOSTED} models, and to no more`);
    const { cert, key: ownKey } = certificate();
    const running = new SplitProcess({
      command: rpcServerCommand(folder),
      env: {},
      cert,
      key: ownKey,
      serve: { host, port, fingerprint, idleMs: IDLE_MS },
    });
    const hosted = { node, running };
    this.#hosted.set(key, hosted);
    log.info('this node lends its memory to a model of another node', { node, model });
    void running.ended.then((words) => {
      if (this.#hosted.get(key)?.running === running) this.#hosted.delete(key);
      log.info('this node lends no memory to that model any more', { node, model, words });
    });
    return hosted;
  }

  /** Those of nodes that are trusted no more end. One that renews its certificate goes on: the tunnel knows it by the one before. */
  trust(nodes: readonly string[]): void {
    for (const { node, running } of this.#hosted.values()) if (!nodes.includes(node)) void running.end();
  }

  async stop(): Promise<void> {
    this.#hasStopped = true;
    await this.#last;
    await Promise.all([...this.#hosted.values()].map(({ running }) => running.end()));
  }
}

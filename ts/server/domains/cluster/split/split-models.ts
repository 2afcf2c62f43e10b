/**
 * The models that this node serves over the memory of several nodes (`inference.split`): for each, an RPC server on every node, a llama-server here, and a
 * cloud backend that asks it. When one of these processes ends, the others do, and all begin again.
 */
import { randomBytes, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { realpath } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type BackoffRange, backoffMs } from '../../../platform/backoff.ts';
import type { Log } from '../../../platform/log/log.ts';
import type { SplitModel } from '../../inference/index.ts';
import { decode, encode } from '../link/frames.ts';
import type { NodeCertificate } from '../link/node-certificate.ts';
import type { Peer } from '../link/peers.ts';
import { SplitProcess } from './split-process.ts';
import { findSplitPrograms, llamaServerCommand } from './split-programs.ts';
import { SPLIT_PATH, type TensorHost } from './tensor-host.ts';

/** A server of this machine that speaks OpenAI's API, as the module cloud asks it. */
interface AttachedServer {
  /** Another process takes the place of the one before. */
  begin(address: { port: number; key: string }): void;
  /** Tells that it works, or why it does not. */
  setState(problem: string | undefined): void;
  detach(): Promise<void>;
}

export type AttachServer = (server: {
  id: string;
  address: { port: number; key: string };
  model: { id: string; contextLength: number };
}) => AttachedServer;

interface SplitModelsParts {
  readonly log: Log;
  readonly models: readonly SplitModel[];
  attach: AttachServer;
  nodeId(): string;
  readonly nodeName: string;
  readonly tensorHost: TensorHost;
  readonly programs: string;
  readonly installRoot: string;
  /** The address by which the others reach this node. */
  address(): string;
  certificate(): NodeCertificate;
  peers(): readonly Peer[];
}

const LOOK_MS = 500;
const ASK_MS = 15_000;
const MOST_ANSWER_BYTES = 64 * 1024;
const MOST_DETAIL = 300;
/** So long may llama-server work on one batch. One that hangs longer waits for a server that answers no more. */
const SILENT_MS = 600_000;
/** A node that does not answer for so long is given up. */
const LOST_MS = 10_000;
const BACKOFF: BackoffRange = { first: 1_000, longest: 60_000 };
/** One that ran for so long begins again soon. */
const STEADY_MS = 60_000;

export class SplitModels {
  readonly #parts: SplitModelsParts;
  #stopped = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  constructor(parts: SplitModelsParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#stopped = new AbortController();
    this.#running = Promise.all(this.#parts.models.map((model) => this.#serve(model)));
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  async #serve(model: SplitModel): Promise<void> {
    let attached: AttachedServer | undefined;
    for (let nFailures = 1; !this.#stopped.signal.aborted; nFailures++) {
      const startedAt = performance.now();
      try {
        const file = await model.file();
        if (file === undefined) throw new Error(`models_dir has no model ${model.name}`);
        // Each has a port of its own: while nobody listens at the one before, another program of this machine may take it, and hear what is asked.
        const address = { port: await freePort(), key: randomBytes(24).toString('base64url') };
        const { name } = model;
        attached ??= this.#parts.attach({ id: `split-${name}`, address, model: { id: name, contextLength: file.contextLength } });
        attached.begin(address);
        await this.#run(model, file, address, attached);
      } catch (error) {
        if (this.#stopped.signal.aborted) break;
        if (performance.now() - startedAt > STEADY_MS) nFailures = 1;
        this.#parts.log.warn('a model that is split over nodes does not work', { model: model.name, error: String(error) });
        attached?.setState((error as Error).message);
        await this.#pause(backoffMs(nFailures, BACKOFF));
      }
    }
    await attached?.detach();
  }

  /** Throws when one of the processes ends, or a node is lost. */
  async #run(
    { name, nodes }: SplitModel,
    { path, sizeBytes }: { path: string; sizeBytes: number },
    { port, key }: { port: number; key: string },
    attached: AttachedServer,
  ): Promise<void> {
    const { programs, installRoot, certificate, log } = this.#parts;
    const folder = findSplitPrograms(programs, installRoot);
    if (folder === undefined) throw new Error('this node has no programs for split models: see inference.split_programs');
    const borrow = [];
    for (const node of nodes) borrow.push(await this.#ask(node, name));
    const real = await realpath(path);
    const { cert, key: ownKey } = certificate();
    const running = new SplitProcess({
      command: llamaServerCommand(folder, { files: isPart(real) ? [real, dirname(real)] : [real], sizeBytes, name, port }),
      env: { LLAMA_API_KEY: key },
      cert,
      key: ownKey,
      borrow,
      health: { port, key, silentMs: SILENT_MS },
    });
    const end = (): void => void running.end();
    this.#stopped.signal.addEventListener('abort', end, { once: true });
    if (this.#stopped.signal.aborted) end();
    const watch = this.#watch(
      borrow.map(({ id }) => id),
      end,
    );
    try {
      await running.ready;
      log.info('a model that is split over nodes works', { model: name, nodes });
      attached.setState(undefined);
      throw new Error(`llama-server or a node of it ended: ${await running.ended}`);
    } finally {
      clearInterval(watch);
      this.#stopped.signal.removeEventListener('abort', end);
      await running.end();
    }
  }

  /** Has a node lend itself. Throws where it does not. */
  async #ask(node: string, model: string) {
    const { nodeId, tensorHost, certificate, address } = this.#parts;
    const peer = this.#find(node);
    if (peer === undefined || (peer !== 'itself' && !peer.isAnswering)) throw new Error(`the node ${node} does not answer`);
    if (peer === 'itself') {
      const { fingerprint } = certificate();
      const { port } = await tensorHost.serve(nodeId(), fingerprint, model);
      return { id: nodeId(), host: hostOf(address()), port, fingerprints: [fingerprint] };
    }
    const signal = AbortSignal.any([AbortSignal.timeout(ASK_MS), this.#stopped.signal]);
    const response = await peer.ask(SPLIT_PATH, signal, encode({ model }));
    const port = readPort(node, response.status, await response.bytes(MOST_ANSWER_BYTES));
    const fingerprints = peer.facts.certificates.map((pem) => new X509Certificate(pem).fingerprint256);
    return { id: peer.facts.id, host: hostOf(peer.facts.address), port, fingerprints };
  }

  /** Undefined: there is none. Throws where several have the name. */
  #find(node: string): Peer | 'itself' | undefined {
    const { peers, nodeId, nodeName } = this.#parts;
    if (node === nodeId()) return 'itself';
    const [peer, another] = peers().filter(({ facts }) => facts.id === node || facts.name === node);
    if (another !== undefined) throw new Error(`several nodes are called ${node}: name it by its id`);
    return peer ?? (node === nodeName ? 'itself' : undefined);
  }

  /** One that was removed gets nothing more at once; one that does not answer may be back in a moment. */
  #watch(ids: readonly string[], onLost: () => void): NodeJS.Timeout {
    const { nodeId, peers } = this.#parts;
    const others = ids.filter((id) => id !== nodeId());
    let answeredAt = performance.now();
    return setInterval(() => {
      const found = others.map((id) => peers().find(({ facts }) => facts.id === id));
      if (found.every((peer) => peer?.isAnswering)) answeredAt = performance.now();
      if (found.includes(undefined) || performance.now() - answeredAt > LOST_MS) onLost();
    }, LOOK_MS);
  }

  async #pause(ms: number): Promise<void> {
    await wait(ms, undefined, { signal: this.#stopped.signal }).catch(() => undefined);
  }
}

/** A model of several files is read from its folder. */
function isPart(path: string): boolean {
  return /-\d{5}-of-\d{5}\.gguf$/i.test(path);
}

/** The port at which another node lends itself. Throws what it says instead, which may be anything. */
function readPort(node: string, status: number, body: Buffer): number {
  const { port, detail } = Object(readAnswer(body)) as { port?: unknown; detail?: unknown };
  if (status === 200 && Number.isInteger(port) && Number(port) > 0 && Number(port) < 65_536) return Number(port);
  const why = typeof detail === 'string' ? detail.slice(0, MOST_DETAIL) : `it answers ${status}`;
  throw new Error(`the node ${node} lends nothing: ${why}`);
}

function readAnswer(body: Buffer): unknown {
  try {
    return decode(body);
  } catch {
    return undefined;
  }
}

function hostOf(address: string): string {
  return new URL(`https://${address}`).hostname.replace(/^\[|\]$/g, '');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** The list of nodes as a member has it: it asks a controller, and another one where that does not answer. */
import { X509Certificate } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { clusterErrors } from '../errors.ts';
import { hasFrames, readFrame, readMap, writeHeartbeat } from '../link/bodies.ts';
import { decode, encode } from '../link/frames.ts';
import type { NodeCertificate } from '../link/node-certificate.ts';
import { Peer } from '../link/peers.ts';
import type { NodeEntry, Registry } from '../node-store.ts';
import type { Told } from '../protocol/node-cycle.ts';
import { WIRE_BEFORE } from '../protocol/wire-version.ts';
import type { CertificateRow } from '../tables.ts';
import type { Controller } from './membership.ts';

const ASK_MS = 5_000;
/** The next controller is asked beside one that hangs, as removed nodes are to be known within a second: only what may be asked of two. */
const NEXT_MS = 300;
const BESIDE: ReadonlySet<string> = new Set(['beat', 'nodes', 'state', 'certificates', 'orders']);
const MOST_ANSWER_BYTES = 8 * 1024 * 1024;

export class RegistryClient implements Registry {
  #peers: readonly Peer[];
  #certificate: NodeCertificate;
  #first = 0;
  /** The clock of the controller that answered last is so much ahead of this one's; undefined: it did not say. */
  clockOffsetMs: number | undefined;

  constructor(controllers: readonly Controller[], certificate: NodeCertificate) {
    this.#certificate = certificate;
    this.#peers = controllers.map((controller) => this.#peerOf(controller));
  }

  /** Shows this certificate to these from now on. */
  async follow(controllers: readonly Controller[], certificate: NodeCertificate): Promise<void> {
    const before = this.#peers;
    this.#certificate = certificate;
    this.#peers = controllers.map((controller) => this.#peerOf(controller));
    await Promise.all(before.map((peer) => peer.close()));
  }

  close(): Promise<unknown> {
    return Promise.all(this.#peers.map((peer) => peer.close()));
  }

  async open(): Promise<void> {}

  /** Members lead nothing. */
  async lead(): Promise<undefined> {}

  async forget(): Promise<number> {
    return 0;
  }

  async beat(node: Parameters<Registry['beat']>[0]): Promise<string | undefined> {
    return (await this.#call<string | null>('beat', node)) ?? undefined;
  }

  leave(): Promise<void> {
    return this.#call('leave');
  }

  async nodes(): ReturnType<Registry['nodes']> {
    const entries = await this.#call<readonly NodeEntry[]>('nodes');
    // A controller of the first wire version knows of no other.
    return entries.map((entry) => ({ ...entry, wire: entry.wire ?? WIRE_BEFORE }));
  }

  state(): ReturnType<Registry['state']> {
    return this.#call('state');
  }

  certificates(): Promise<CertificateRow[]> {
    return this.#call('certificates');
  }

  orders(): ReturnType<Registry['orders']> {
    return this.#call('orders');
  }

  take(id: string): Promise<boolean> {
    return this.#call('take', id);
  }

  register({ pem }: CertificateRow): Promise<void> {
    return this.#call('register', new X509Certificate(pem).toString());
  }

  examine(): Promise<never> {
    return Promise.reject(atController());
  }

  order(): Promise<string> {
    return Promise.reject(atController());
  }

  /** A member removes itself alone. */
  remove(id: string): Promise<boolean> {
    return this.#call('remove', id);
  }

  promote(): Promise<void> {
    return Promise.reject(atController());
  }

  addJoinToken(): Promise<void> {
    return Promise.reject(atController());
  }

  useJoinToken(): Promise<undefined> {
    return Promise.reject(atController());
  }

  #peerOf({ id, address, certificates }: Controller): Peer {
    return new Peer(
      { id, name: '', address, isReady: true, isMember: false, modules: [], certificates },
      this.#certificate,
      ASK_MS,
    );
  }

  /** The controller that answered last is asked first. */
  async #call<T>(method: string, ...given: unknown[]): Promise<T> {
    const peers = this.#peers;
    const inTurn = peers.map((_, i) => (this.#first + i) % peers.length);
    const asks = inTurn.map((at) => async () => ({ at, ...(await this.#ask<T>(peers[at] as Peer, method, given)) }));
    const { at, value, date } = await firstOf(asks, BESIDE.has(method) ? NEXT_MS : ASK_MS);
    this.#first = at;
    this.clockOffsetMs = Number.isNaN(date) ? undefined : date - Date.now();
    return value;
  }

  async #ask<T>(peer: Peer, method: string, given: readonly unknown[]): Promise<{ value: T; date: number }> {
    const isFrame = method === 'beat' && hasFrames(peer.version);
    const body = isFrame ? writeHeartbeat(given[0] as Told) : encode({ method, arguments: given });
    const response = await peer.ask('/registry', AbortSignal.timeout(ASK_MS), body);
    const bytes = await response.bytes(MOST_ANSWER_BYTES);
    if (response.status !== 200) throw new Error(`a controller answers ${response.status}`);
    const frame = readFrame(bytes);
    const value = frame === undefined ? (decode(bytes) as { value: T }).value : (readMap(frame) as T);
    return { value, date: Date.parse(response.header('date') ?? '') };
  }
}

/** The next is asked when one fails, or gives no answer for so long. Throws the last failure where none answers. */
async function firstOf<T>(asks: readonly (() => Promise<T>)[], nextMs: number): Promise<T> {
  const answers: T[] = [];
  let failure: unknown = new Error('there is no controller');
  const running = new Set<Promise<void>>();
  for (const ask of asks) {
    const one = ask()
      .then(
        (answer) => void answers.push(answer),
        (error: unknown) => {
          failure = error;
        },
      )
      .finally(() => running.delete(one));
    running.add(one);
    await Promise.race([...running, sleep(nextMs, undefined, { ref: false })]);
    if (answers.length > 0) return answers[0] as T;
  }
  while (answers.length === 0 && running.size > 0) await Promise.race(running);
  if (answers.length === 0) throw failure;
  return answers[0] as T;
}

function atController() {
  return clusterErrors.error(
    'ask_a_controller',
    'This node works for a cluster, and others are looked after by its controllers.',
  );
}

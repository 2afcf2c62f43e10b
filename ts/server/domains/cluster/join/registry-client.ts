/** The list of nodes as a member has it: it asks a controller, one after the other. */
import { X509Certificate } from 'node:crypto';
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
    let failure: unknown = new Error('there is no controller');
    for (let i = 0; i < this.#peers.length; i++) {
      const at = (this.#first + i) % this.#peers.length;
      try {
        const peer = this.#peers[at] as Peer;
        const isFrame = method === 'beat' && hasFrames(peer.version);
        const body = isFrame ? writeHeartbeat(given[0] as Told) : encode({ method, arguments: given });
        const response = await peer.ask('/registry', AbortSignal.timeout(ASK_MS), body);
        const bytes = await response.bytes(MOST_ANSWER_BYTES);
        if (response.status !== 200) throw new Error(`a controller answers ${response.status}`);
        this.#first = at;
        const said = Date.parse(response.header('date') ?? '');
        this.clockOffsetMs = Number.isNaN(said) ? undefined : said - Date.now();
        const frame = readFrame(bytes);
        return frame === undefined ? (decode(bytes) as { value: T }).value : (readMap(frame) as T);
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  }
}

function atController() {
  return clusterErrors.error(
    'ask_a_controller',
    'This node works for a cluster, and others are looked after by its controllers.',
  );
}

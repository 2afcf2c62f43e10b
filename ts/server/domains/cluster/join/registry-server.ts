/** The part of a controller: it lets nodes join, and does for members what they may do with the list of nodes. Each writes of itself alone. */
import { X509Certificate } from 'node:crypto';
import type { Log } from '../../../platform/log/log.ts';
import { clusterErrors } from '../errors.ts';
import { hasFrames, readFrame, toldOf, writeMap } from '../link/bodies.ts';
import { decode, encode } from '../link/frames.ts';
import type { LinkRequest } from '../link/link-listener.ts';
import { certificateRow } from '../link/node-certificate.ts';
import type { NodeEntry, NodeStore } from '../node-store.ts';
import type { NodeRow } from '../tables.ts';
import { hashOfSecret } from './join-token.ts';
import type { JoinAnswer } from './membership.ts';

interface RegistryServerParts {
  readonly store: NodeStore;
  readonly log: Log;
}

interface JoinRequest {
  readonly secret: string;
  readonly id: string;
  readonly name: string;
  readonly certificate: string;
}

/** A call of a member: the name of the method, and what it takes. */
interface RegistryCall {
  readonly method: string;
  readonly arguments: readonly unknown[];
}

const ID = /^[0-9a-f-]{1,64}$/;
const MOST_TEXT = 256 * 1024;
const TEXTS = ['id', 'name', 'address', 'version', 'roles', 'modules', 'models', 'load', 'boot'] as const;
const NUMBERS = ['draining', 'ended', 'heartbeat_ms'] as const;

export class RegistryServer {
  readonly #parts: RegistryServerParts;

  constructor(parts: RegistryServerParts) {
    this.#parts = parts;
  }

  /** A stranger shows a token, and is one of the nodes from then on. */
  async join({ body, response, certificate }: LinkRequest): Promise<void> {
    const { store, log } = this.#parts;
    const { secret, id, name, certificate: pem } = decode(await body()) as JoinRequest;
    const shown = new X509Certificate(String(pem));
    // The key of the certificate was proved by the connection, and by nothing else.
    const isSound = shown.fingerprint256 === certificate && ID.test(id) && typeof secret === 'string' && secret.length < 200;
    const roles = isSound ? await store.useJoinToken(hashOfSecret(secret)) : undefined;
    if (roles === undefined) {
      log.warn('a node was not let in: its token is not known', { name: String(name).slice(0, 100) });
      response.writeHead(403, { connection: 'close' }).end();
      return;
    }
    const known = await store.nodes();
    if (known.some((node) => node.id === id)) {
      response.writeHead(409, { connection: 'close' }).end();
      return;
    }
    await store.register({ ...certificateRow(id, shown), is_member: 1 });
    log.info('a node has joined the cluster', { node: id, name: String(name).slice(0, 100) });
    const answer: JoinAnswer = { roles, controllers: await this.#controllers() };
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' }).end(encode(answer));
  }

  async call({ from, body, response, version }: LinkRequest): Promise<void> {
    try {
      const { method, arguments: given } = callOf(await body());
      const value = (await this.#carryOut(from, method, given)) ?? null;
      const isFrame = method === 'nodes' && hasFrames(version);
      const answer = isFrame ? writeMap(value as NodeEntry[]) : encode({ value });
      response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(answer);
    } catch (error) {
      if (!clusterErrors.has(error))
        this.#parts.log.warn('what a member asked was not done', { node: from, error: String(error) });
      response.writeHead(400).end();
    }
  }

  async #carryOut(from: string, method: string, [given]: readonly unknown[]): Promise<unknown> {
    const { store } = this.#parts;
    switch (method) {
      case 'nodes':
        return await store.nodes();
      case 'state':
        return await store.state();
      case 'certificates':
        return await store.certificates();
      case 'orders':
        return await store.orders(from);
      case 'take':
        return (await store.orders(from)).some(({ id }) => id === given) && (await store.take(String(given)));
      case 'leave':
        return await store.leave(from);
      case 'beat':
        return await this.#beat(from, given);
      case 'remove':
        if (given !== from) throw new Error('a member removes itself alone');
        return await store.remove(from);
      case 'register':
        return await store.register({ ...certificateRow(from, new X509Certificate(String(given))), is_member: 1 });
      default:
        throw new Error(`a member asks for ${method}`);
    }
  }

  /** A node that is removed at this moment does not come back by its last heartbeat. */
  async #beat(from: string, given: unknown): Promise<string | undefined> {
    const { store } = this.#parts;
    const certificates = await store.certificates();
    if (!certificates.some(({ node }) => node === from)) throw new Error('the node was removed');
    return await store.beat(beatOf(from, given));
  }

  async #controllers(): Promise<JoinAnswer['controllers']> {
    const [nodes, certificates] = await Promise.all([this.#parts.store.nodes(), this.#parts.store.certificates()]);
    return nodes.flatMap(({ id, address }) => {
      const own = certificates.filter(({ node, is_member: isMember }) => node === id && isMember === 0).map(({ pem }) => pem);
      return own.length === 0 ? [] : [{ id, address, certificates: own }];
    });
  }
}

/** A heartbeat of a node that has frames is one. */
function callOf(body: Buffer): RegistryCall {
  const heartbeat = readFrame(body)?.heartbeat;
  return heartbeat === undefined ? (decode(body) as RegistryCall) : { method: 'beat', arguments: [toldOf(heartbeat)] };
}

/** Throws for what is no heartbeat of that node. */
function beatOf(from: string, given: unknown): Omit<NodeRow, 'seen_at'> {
  const beat = given as Record<string, unknown>;
  const isSound =
    TEXTS.every((name) => typeof beat[name] === 'string' && (beat[name] as string).length <= MOST_TEXT) &&
    NUMBERS.every((name) => Number.isSafeInteger(beat[name]) && (beat[name] as number) >= 0);
  if (!isSound || beat['id'] !== from) throw new Error('it sends no heartbeat of its own');
  for (const name of ['roles', 'modules', 'models', 'load']) JSON.parse(beat[name] as string);
  // Nodes of the first wire version do not name theirs.
  const wire = Number.isSafeInteger(beat['wire']) && (beat['wire'] as number) > 0 ? (beat['wire'] as number) : 1;
  const told = Object.fromEntries([...TEXTS, ...NUMBERS].map((name) => [name, beat[name]]));
  return { ...told, wire } as unknown as Omit<NodeRow, 'seen_at'>;
}

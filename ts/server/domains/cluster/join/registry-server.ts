/** The part of a controller: it lets nodes join, and does for members what they may do with the list of nodes. Each writes of itself alone. */
import { X509Certificate } from 'node:crypto';
import Type from 'typebox';
import type { Log } from '../../../platform/log/log.ts';
import { ROLES, type Role } from '../../../platform/module/module-names.ts';
import { compileLazily } from '../../../platform/schema/compile-lazily.ts';
import { clusterErrors } from '../errors.ts';
import { hasFrames, readFrame, toldOf, writeMap } from '../link/bodies.ts';
import { decode, encode } from '../link/frames.ts';
import type { LinkRequest } from '../link/link-listener.ts';
import { certificateRow } from '../link/node-certificate.ts';
import type { NodeEntry, NodeStore } from '../node-store.ts';
import type { CertificateRow, NodeRow } from '../tables.ts';
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

const COMPLAINT_MS = 60_000;
const ID = /^[0-9a-f-]{1,64}$/;
/** A node makes a new one ten days before the last one ends. */
const MOST_CERTIFICATES = 4;
/** A heartbeat with the names of its models. */
const MOST_CALL_BYTES = 2 * 2 ** 20;
const MOST_HEARTBEAT_MS = 3_600_000;
const Names = Type.Array(Type.String({ maxLength: 64 }), { maxItems: 200 });
/** Others read what a member tells of itself, so nothing in it may stop them. */
const isBeat = compileLazily(
  Type.Object({
    id: Type.String({ pattern: ID.source }),
    name: Type.String({ maxLength: 255 }),
    address: Type.String({ maxLength: 300, pattern: '^[!-~]*$' }),
    version: Type.String({ maxLength: 100 }),
    boot: Type.String({ maxLength: 100 }),
    roles: Names,
    modules: Names,
    models: Type.Array(Type.String({ maxLength: 512 }), { maxItems: 2_000 }),
    load: Type.Object({
      cpu: Type.Number({ minimum: 0 }),
      memory_free_bytes: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    }),
    draining: Type.Integer({ minimum: 0, maximum: 1 }),
    ended: Type.Integer({ minimum: 0, maximum: 1 }),
    heartbeat_ms: Type.Integer({ minimum: 1, maximum: MOST_HEARTBEAT_MS }),
    // Nodes of the first wire version do not name theirs.
    wire: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
  }),
);

export class RegistryServer {
  readonly #parts: RegistryServerParts;
  /** By the ids of members. */
  readonly #complained = new Map<string, number>();

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
    const [nodes, certificates] = await Promise.all([store.nodes(), store.certificates()]);
    // One that is not told of now may come back.
    const isOther = certificates.some(({ node, fingerprint }) => node === id && fingerprint !== certificate);
    if (isOther || nodes.some((node) => node.id === id)) {
      response.writeHead(409, { connection: 'close' }).end();
      return;
    }
    await store.register({ ...certificateRow(id, shown), is_member: 1, is_standby: roles.includes('data') ? 1 : 0 });
    log.info('a node has joined the cluster', { node: id, name: String(name).slice(0, 100) });
    const answer: JoinAnswer = { roles, controllers: await this.#controllers() };
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' }).end(encode(answer));
  }

  async call({ from, body, response, version }: LinkRequest): Promise<void> {
    try {
      const { method, arguments: given } = callOf(await body(MOST_CALL_BYTES));
      const value = (await this.#carryOut(from, method, given)) ?? null;
      const isFrame = method === 'nodes' && hasFrames(version);
      const answer = isFrame ? writeMap(value as NodeEntry[]) : encode({ value });
      response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(answer);
    } catch (error) {
      if (!clusterErrors.has(error)) this.#complain(from, error);
      response.writeHead(400).end();
    }
  }

  /** A member that asks for nonsense all day fills no disk. */
  #complain(from: string, error: unknown): void {
    const now = performance.now();
    if (now - (this.#complained.get(from) ?? Number.NEGATIVE_INFINITY) < COMPLAINT_MS) return;
    this.#complained.set(from, now);
    this.#parts.log.warn('what a member asked was not done', { node: from, error: String(error) });
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
        return await this.#renew(from, new X509Certificate(String(given)));
      default:
        throw new Error(`a member asks for ${method}`);
    }
  }

  /** A node that is removed at this moment does not come back by its last heartbeat. */
  async #beat(from: string, given: unknown): Promise<string | undefined> {
    await this.#certificatesOf(from);
    return await this.#parts.store.beat(beatOf(from, given));
  }

  /** The node stays what its certificates of before say. */
  async #renew(from: string, certificate: X509Certificate): Promise<void> {
    const own = await this.#certificatesOf(from);
    const row = certificateRow(from, certificate);
    const isNew = own.every(({ fingerprint }) => fingerprint !== row.fingerprint);
    if (isNew && own.length >= MOST_CERTIFICATES) throw new Error(`the node has ${own.length} certificates already`);
    const { is_member, is_standby } = own[0];
    await this.#parts.store.register({ ...row, is_member, is_standby });
  }

  async #certificatesOf(id: string): Promise<[CertificateRow, ...CertificateRow[]]> {
    const [first, ...others] = (await this.#parts.store.certificates()).filter(({ node }) => node === id);
    if (first === undefined) throw new Error('the node was removed');
    return [first, ...others];
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
  const told = given as Record<string, unknown>;
  const lists = ['roles', 'modules', 'models', 'load'].map((name) => [name, JSON.parse(String(told[name]))]);
  const beat = { ...told, ...Object.fromEntries(lists) };
  if (!isBeat.Check(beat) || beat.id !== from) throw new Error('it sends no heartbeat of its own');
  const { id, name, address, version, boot, roles, modules, models, load, draining, ended, heartbeat_ms, wire = 1 } = beat;
  const { cpu, memory_free_bytes } = load;
  return {
    id,
    name,
    address,
    version,
    boot,
    draining,
    ended,
    heartbeat_ms,
    wire,
    roles: JSON.stringify(roles.filter((role) => ROLES.includes(role as Role))),
    modules: JSON.stringify(modules),
    models: JSON.stringify(models),
    load: JSON.stringify({ cpu, memory_free_bytes }),
  };
}

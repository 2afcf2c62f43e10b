/**
 * The file of a node that joined a cluster, in `data_dir/cluster/member.json`: its controllers and their certificates. A node with this file
 * works for the cluster and has no accounts of its own that count.
 */
import type { X509Certificate } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { writeFileAtomically } from '../../../platform/files/atomic-file.ts';
import { ROLES, type Role } from '../../../platform/module/module-names.ts';
import { clusterErrors } from '../errors.ts';
import { decode } from '../link/frames.ts';
import type { NodeCertificate } from '../link/node-certificate.ts';
import { Peer } from '../link/peers.ts';
import { type JoinToken, readJoinToken } from './join-token.ts';

export interface Controller {
  readonly id: string;
  readonly address: string;
  /** PEM; several while one is renewed. */
  readonly certificates: readonly string[];
}

export interface Membership {
  readonly controllers: readonly Controller[];
  /** HOST:PORT by which the others reach this node, where it was given at the join. */
  readonly address?: string | undefined;
  /** Nodes that may be a controller one day, and are asked where none of those answers. */
  readonly standbys?: readonly Controller[];
}

/** The answer of a controller to a node that joins. */
export interface JoinAnswer extends Membership {
  readonly roles: readonly Role[];
}

const MOST_ANSWER_BYTES = 256 * 1024;
const ASK_MS = 5_000;
const fileOf = (dataDir: string): string => join(dataDir, 'cluster', 'member.json');

/** Undefined: the node belongs to no cluster that it joined. Throws for a file that is damaged: such a node must not go on by itself. */
export async function readMembership(dataDir: string): Promise<Membership | undefined> {
  const written = await readWritten(dataDir);
  if (written === undefined || written.left === true) return undefined;
  const { controllers, standbys = [], address } = written;
  if (!Array.isArray(controllers) || controllers.length === 0) throw damaged(dataDir);
  return { controllers, standbys, ...(address !== undefined && { address }) };
}

/** It was a member once, or a controller with members, and goes on to ask for credentials whatever it is now. Throws as readMembership does. */
export async function enforcesForGood(dataDir: string): Promise<boolean> {
  return (await readWritten(dataDir))?.left === true;
}

/** Undefined: there is no file. One that cannot be read is no reason to take the node for one of its own. */
async function readWritten(dataDir: string): Promise<(Membership & { left?: boolean }) | undefined> {
  const text = await readFile(fileOf(dataDir), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  try {
    return { ...(JSON.parse(text) as Membership) };
  } catch {
    throw damaged(dataDir);
  }
}

function damaged(dataDir: string): Error {
  return new Error(`${fileOf(dataDir)} is damaged: join again with a new token, after the file was moved away`);
}

/** The node is no member from its next start on, and asks for credentials for good. */
export async function enforceForGood(dataDir: string): Promise<void> {
  await writeFileAtomically(fileOf(dataDir), `${JSON.stringify({ controllers: [], left: true })}\n`, 0o600);
}

/** The content of the file. */
export function membershipText(membership: Membership): string {
  return `${JSON.stringify(membership, undefined, 2)}\n`;
}

export async function writeMembership(dataDir: string, membership: Membership): Promise<void> {
  await mkdir(join(dataDir, 'cluster'), { recursive: true, mode: 0o700 });
  await writeFileAtomically(fileOf(dataDir), membershipText(membership), 0o600);
}

/** Has a controller take this node. Throws `join_token_invalid`, `join_failed`, `node_id_taken`. */
export async function askToJoin(text: string, own: NodeCertificate & { id: string; name: string }): Promise<JoinAnswer> {
  const token = readJoinToken(text);
  const { address, pem } = await firstThere(token, own);
  const facts = { id: '', name: '', address, isReady: false, isMember: false, modules: [], certificates: [pem] };
  const peer = new Peer(facts, own, ASK_MS);
  try {
    const body = JSON.stringify({ secret: token.secret, id: own.id, name: own.name, certificate: own.cert });
    const response = await peer.ask('/join', AbortSignal.timeout(2 * ASK_MS), body);
    const bytes = await response.bytes(MOST_ANSWER_BYTES);
    if (response.status === 403)
      throw clusterErrors.error(
        'join_token_invalid',
        'The cluster does not know the token: it was used, it has expired, or it was never made.',
      );
    if (response.status === 409)
      throw clusterErrors.error(
        'node_id_taken',
        `The cluster has a node ${own.id} already: this data folder is a copy of another one's, or the node was there before and was not removed.`,
      );
    if (response.status !== 200) throw failed(`the controller answers ${response.status}`);
    const { controllers, roles } = decode(bytes.toString()) as JoinAnswer;
    return { controllers, roles: roles.filter((role) => ROLES.includes(role)) };
  } catch (error) {
    if (clusterErrors.has(error)) throw error;
    throw failed((error as Error).message, error);
  } finally {
    await peer.close();
  }
}

/** The first controller of the token that is there, since the secret works once. Throws `join_failed` for the first one. */
async function firstThere(token: JoinToken, own: NodeCertificate): Promise<{ address: string; pem: string }> {
  let failure: unknown;
  for (const reached of [token, ...(token.others ?? [])])
    try {
      return { address: reached.address, pem: await certificateAt(reached, own) };
    } catch (error) {
      failure ??= error;
    }
  throw failure;
}

/** The certificate that is shown there, if it is the one that the token names. Nothing is sent before. */
async function certificateAt(
  { address, fingerprint }: Pick<JoinToken, 'address' | 'fingerprint'>,
  { cert, key }: NodeCertificate,
): Promise<string> {
  const { hostname, port } = new URL(`https://${address}`);
  const host = hostname.replace(/^\[|\]$/g, '');
  const socket = await new Promise<TLSSocket>((resolve, reject) => {
    const opened = connect({ host, port: Number(port || 443), cert, key, minVersion: 'TLSv1.3', rejectUnauthorized: false }, () =>
      resolve(opened),
    );
    opened.setTimeout(ASK_MS, () => opened.destroy(new Error('it does not answer')));
    opened.on('error', (error) => reject(failed(error.message, error)));
  });
  const shown: X509Certificate | undefined = socket.getPeerX509Certificate();
  socket.destroy();
  if (shown?.fingerprint256 !== fingerprint) throw failed('it shows another certificate than the token names');
  return shown.toString();
}

function failed(why: string, cause?: unknown) {
  return clusterErrors.error('join_failed', `The controller of the token cannot be joined: ${why}.`, { cause });
}

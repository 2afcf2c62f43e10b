/** The folder of a replica behind the link to its node, and what that node does for it: one request an operation. */
import { clusterErrors } from '../errors.ts';
import { hasFrames, readFrame, writeFrame } from '../link/bodies.ts';
import { decode, encode } from '../link/frames.ts';
import type { LinkRequest } from '../link/link-listener.ts';
import type { Peer } from '../link/peers.ts';
import type { ReplicaFiles } from './replication.ts';

export const REPLICA_PATH = '/replica';

/** Chunks and manifests, as the module backup names them. */
const NAME = /^(chunks\/[0-9a-f]{2}\/[0-9a-f]{64}|manifests\/[0-9A-Z]{19,20}-[0-9a-f]{8}\.json)$/;
const FOLDER = /^(chunks|manifests)$/;
const MOST_READ_BYTES = 256 * 2 ** 20;
const MOST_ANSWER_BYTES = 384 * 2 ** 20;

export interface ReplicaCall {
  readonly op: 'read' | 'write' | 'renew' | 'list' | 'delete' | 'sync' | 'lay' | 'promote';
  readonly path?: string;
  readonly bytes?: Buffer;
  readonly maxBytes?: number;
  readonly id?: string;
  readonly isForced?: boolean;
  /** The primary's last commit, which its standby may not have heard of yet. */
  readonly commit?: number;
  /** How long ago the snapshot was begun. */
  readonly ageMs?: number;
  /** The roles of the primary, which whoever takes its place has as well. */
  readonly roles?: readonly string[];
}

interface ReplicaAnswer {
  readonly value?: unknown;
  readonly problem?: string;
  /** The caller is told this refusal as it is. */
  readonly refusal?: { readonly code: 'replica_behind'; readonly detail: string; readonly extra: Record<string, unknown> };
}

/** Throws `replica_failed`, or what the node refuses with. */
export async function callReplica(peer: Peer, call: ReplicaCall, signal: AbortSignal): Promise<unknown> {
  try {
    const headers = { 'content-type': 'application/octet-stream' };
    const { op, path, bytes: written } = call;
    const isFrame = op === 'write' && hasFrames(peer.version);
    const body = isFrame ? writeFrame({ piece: { path, bytes: written } }) : encode(call);
    const response = await peer.forward(REPLICA_PATH, { method: 'POST', headers, body, signal });
    const bytes = await response.bytes(MOST_ANSWER_BYTES);
    if (response.status !== 200) throw new Error(`the node answers ${response.status}`);
    const piece = readFrame(bytes)?.piece;
    if (piece !== undefined) return piece.bytes;
    const { value, problem, refusal } = decode(bytes) as ReplicaAnswer;
    if (refusal !== undefined) throw clusterErrors.error(refusal.code, refusal.detail, { extra: refusal.extra });
    if (problem !== undefined) throw new Error(problem);
    return value;
  } catch (error) {
    if (clusterErrors.has(error)) throw error;
    signal.throwIfAborted();
    const sentence = `The standby ${peer.facts.name} did not take the snapshot: ${(error as Error).message}`;
    throw clusterErrors.error('replica_failed', sentence, { cause: error });
  }
}

export function peerFiles(peer: Peer, signal: AbortSignal): ReplicaFiles {
  const call = (one: ReplicaCall) => callReplica(peer, one, signal);
  return {
    shown: peer.facts.id,
    parallel: 4,
    read: async (path, maxBytes) => ((await call({ op: 'read', path, maxBytes })) as Buffer | null) ?? undefined,
    write: async (path, bytes) => void (await call({ op: 'write', path, bytes: Buffer.from(bytes) })),
    renew: async (path) => (await call({ op: 'renew', path })) === true,
    list: async (path) => (await call({ op: 'list', path })) as { path: string; modifiedAt: number }[],
    delete: async (path) => void (await call({ op: 'delete', path })),
    sync: async () => void (await call({ op: 'sync' })),
    close: async () => undefined,
  };
}

/** Does one operation on the files, and `others` for what is none. A refusal travels as one. */
export async function answerReplica(
  { body, response, version }: LinkRequest,
  files: ReplicaFiles,
  others: (call: ReplicaCall) => Promise<unknown>,
): Promise<void> {
  const call = callOf(await body());
  const answer: ReplicaAnswer = await carryOut(call, files, others).then(
    (value) => ({ value: value ?? null }),
    (error: unknown) =>
      clusterErrors.has(error) && error.code === 'replica_behind'
        ? { refusal: { code: error.code, detail: error.sentence, extra: error.extra ?? {} } }
        : { problem: (error as Error).message },
  );
  const isFrame = Buffer.isBuffer(answer.value) && hasFrames(version);
  const written = isFrame ? writeFrame({ piece: { path: call.path, bytes: answer.value as Buffer } }) : encode(answer);
  response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(written);
}

/** A file that comes from a node with frames is one. */
function callOf(body: Buffer): ReplicaCall {
  const piece = readFrame(body)?.piece;
  return piece === undefined ? (decode(body) as ReplicaCall) : { op: 'write', path: piece.path, bytes: piece.bytes as Buffer };
}

async function carryOut(
  call: ReplicaCall,
  files: ReplicaFiles,
  others: (call: ReplicaCall) => Promise<unknown>,
): Promise<unknown> {
  const { op, path = '', bytes, maxBytes = 0 } = call;
  if (op === 'lay' || op === 'promote') return await others(call);
  if (op === 'sync') return await files.sync();
  if (!(op === 'list' ? FOLDER : NAME).test(path))
    throw new Error(`${JSON.stringify(path.slice(0, 100))} is no file of a replica`);
  switch (op) {
    case 'read':
      return await files.read(path, Math.min(maxBytes, MOST_READ_BYTES));
    case 'write':
      if (!Buffer.isBuffer(bytes)) throw new Error('there is nothing to write');
      return await files.write(path, bytes);
    case 'renew':
      return await files.renew(path);
    case 'list':
      return await files.list(path);
    case 'delete':
      return await files.delete(path);
  }
}

/**
 * Lists of which every node has a part, and jobs and memory files, which are on one node: a client asks any node for them. Resumable streams live in the memory
 * of controllers, and memory files on their disks. Jobs lie in the database of their node, which controllers share and a member has for itself.
 */

import type { ForwardedRequest } from '../../../platform/http/forwarding.ts';
import { json, type Reply } from '../../../platform/http/reply/reply.ts';
import type { HttpResponse } from '../../../platform/network/http-response.ts';

/** Sends a request to a node, whose own part it answers with. */
export type AskNode = (request: ForwardedRequest) => Promise<HttpResponse>;

interface List {
  /** The kind of nodes that have a part, beside the one that is asked. */
  readonly of: 'controllers' | 'members';
  merge(parts: readonly Part[], query: URLSearchParams): unknown;
}

type Row = Readonly<Record<string, unknown>>;
type Part = Readonly<Record<string, unknown>>;

const JOBS = '/api/v1/system/jobs';
const JOB = /^\/api\/v1\/system\/jobs\/([^/]+)(?:\/|$)/;
const MEMORY_FILES_ROOT = '/api/v1/exmm/';
const MEMORY_FILES = `${MEMORY_FILES_ROOT}shard`;
/** They name a memory file in their query or their body. */
const OF_MEMORY_FILE =
  /^\/api\/v1\/(?:exmm\/(?:models|shard|export|consolidate)|retrieve\/load|worldmodel\/rollout|memory\/forecasts|cluster\/storage\/system-exmm)$/;
const DEFAULT_JOBS = 50;
const PART_MS = 5_000;
/** A thread reads the files, and may have to begin. */
const FILES_PART_MS = 30_000;
const MOST_PART_BYTES = 4 * 1024 * 1024;
/** A node refuses the caller or the request with these, and not because it lacks a module. */
const REFUSALS = new Set([400, 401, 403, 429]);
/** No page of a list has more. */
const MOST_ROWS = 1_000;

const LISTS: Readonly<Record<string, List>> = {
  '/api/v1/edge/conversations/streams': {
    of: 'controllers',
    merge: (parts) => ({ data: inOrder(rowsOf(parts, 'data', 'stream'), 'created_at') }),
  },
  [JOBS]: {
    of: 'members',
    merge: (parts, query) => {
      const rows = inOrder(rowsOf(parts, 'jobs', 'id'), 'id').reverse();
      const page = rows.slice(0, Number(query.get('limit') ?? DEFAULT_JOBS));
      const hasMore = rows.length > page.length || parts.some(({ next }) => next !== null);
      return { jobs: page, next: hasMore ? (page.at(-1)?.['id'] ?? null) : null };
    },
  },
  '/api/v1/exmm/models': { of: 'controllers', merge: mergedFiles },
  [MEMORY_FILES]: { of: 'controllers', merge: mergedFiles },
};

/** Tells which other nodes have a part of what is asked for; undefined: none has. */
export function partsOf(method: string, path: string): 'controllers' | 'members' | undefined {
  if (method === 'GET' && Object.hasOwn(LISTS, path)) return LISTS[path]?.of;
  if (OF_MEMORY_FILE.test(path)) return 'controllers';
  return JOB.test(path) ? 'members' : undefined;
}

/** @param path with its query: a memory file that it names is on one node. */
export function isList({ method, path }: ForwardedRequest): boolean {
  const { pathname, searchParams } = new URL(path, 'http://node');
  return method === 'GET' && Object.hasOwn(LISTS, pathname) && !(OF_MEMORY_FILE.test(pathname) && searchParams.has('file'));
}

/**
 * Merges the lists of this node and of others; undefined: none has one, or this one refuses the caller or has lost its own for now, which no other list
 * stands in for. `hasOwn`: this node has one.
 */
export async function gather(
  request: ForwardedRequest,
  own: AskNode,
  others: readonly AskNode[],
  hasOwn: boolean,
): Promise<Reply | undefined> {
  const { pathname, searchParams } = new URL(request.path, 'http://node');
  const asked = await Promise.all([own, ...others].map((ask) => partOf(request, ask)));
  const parts = asked.filter(isObject);
  const lacksOwn = asked[0] === 'refused' || (hasOwn && asked[0] === undefined);
  return lacksOwn || parts.length === 0 ? undefined : json(200, LISTS[pathname]?.merge(parts, searchParams));
}

/** The node that has the job or the memory file of the request, whose body is whole; undefined: none of them. */
export async function findHolder(request: ForwardedRequest, nodes: readonly AskNode[]): Promise<AskNode | undefined> {
  const path = lookedUp(request);
  if (path === undefined) return undefined;
  const look = { ...request, method: 'GET', path, body: undefined };
  for (const ask of nodes) if (isObject(await partOf(look, ask))) return ask;
  return undefined;
}

/** The node that has it answers this with 200. */
function lookedUp({ path, body }: ForwardedRequest): string | undefined {
  const { pathname, searchParams } = new URL(path, 'http://node');
  const [, id] = JOB.exec(pathname) ?? [];
  if (id !== undefined) return `${JOBS}/${id}`;
  const file = searchParams.get('file') ?? (body instanceof Uint8Array ? fileNamed(body) : undefined);
  return file === undefined ? undefined : `${MEMORY_FILES}?file=${encodeURIComponent(file)}`;
}

function fileNamed(body: Uint8Array): string | undefined {
  try {
    const { file, emm_path: path } = JSON.parse(Buffer.from(body).toString()) as Record<string, unknown>;
    return [file, path].find((each) => typeof each === 'string');
  } catch {
    // The node that answers refuses it.
    return undefined;
  }
}

function mergedFiles(parts: readonly Part[]): unknown {
  return { data: inOrder(allRows(parts, 'data'), 'file') };
}

/** Undefined: the node has none, does not answer in time, or answers what is no object. */
async function partOf(request: ForwardedRequest, ask: AskNode): Promise<Part | 'refused' | undefined> {
  try {
    const limitMs = request.path.startsWith(MEMORY_FILES_ROOT) ? FILES_PART_MS : PART_MS;
    const response = await ask({ ...request, signal: AbortSignal.any([request.signal, AbortSignal.timeout(limitMs)]) });
    if (response.status !== 200) {
      response.discard();
      return REFUSALS.has(response.status) ? 'refused' : undefined;
    }
    const part = JSON.parse((await response.bytes(MOST_PART_BYTES)).toString()) as unknown;
    return isObject(part) ? part : undefined;
  } catch {
    request.signal.throwIfAborted();
    return undefined;
  }
}

/** Nodes of one database have the same jobs. What the node that is asked says of one goes before what others say. */
function rowsOf(parts: readonly Part[], member: string, key: string): Row[] {
  return [...new Map(allRows(parts.toReversed(), member).map((row) => [row[key], row])).values()];
}

function allRows(parts: readonly Part[], member: string): Row[] {
  return parts.flatMap((part) => (Array.isArray(part[member]) ? part[member].slice(0, MOST_ROWS).filter(isObject) : []));
}

function isObject(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function inOrder(rows: readonly Row[], by: string): Row[] {
  const textOf = (row: Row): string => String(row[by]);
  return rows.toSorted((a, b) => Number(textOf(a) > textOf(b)) - Number(textOf(a) < textOf(b)));
}

/**
 * Lists of which every node has a part, and jobs, which are on one node: a client asks any node for them. Resumable streams live in the memory of
 * controllers. Jobs lie in the database of their node, which controllers share and a member has for itself.
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
const DEFAULT_JOBS = 50;
const PART_MS = 5_000;
const MOST_PART_BYTES = 4 * 1024 * 1024;
/** Of the caller or of what it asks, and not because the node lacks a module. */
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
};

/** Tells which other nodes have a part of what is asked for; undefined: none has. */
export function partsOf(method: string, path: string): 'controllers' | 'members' | undefined {
  if (method === 'GET' && Object.hasOwn(LISTS, path)) return LISTS[path]?.of;
  return JOB.test(path) ? 'members' : undefined;
}

export function isList(path: string): boolean {
  return Object.hasOwn(LISTS, path);
}

/** Merges the lists of this node and of others; undefined: none has one, or this one refuses the caller, for whom no other list stands in. */
export async function gather(request: ForwardedRequest, own: AskNode, others: readonly AskNode[]): Promise<Reply | undefined> {
  const { pathname, searchParams } = new URL(request.path, 'http://node');
  const asked = await Promise.all([own, ...others].map((ask) => partOf(request, ask)));
  const parts = asked.filter(isObject);
  return asked[0] === 'refused' || parts.length === 0 ? undefined : json(200, LISTS[pathname]?.merge(parts, searchParams));
}

/** The node that has the job of the path; undefined: none of them. */
export async function findJob(request: ForwardedRequest, nodes: readonly AskNode[]): Promise<AskNode | undefined> {
  const [, id] = JOB.exec(request.path.split('?', 1)[0] as string) ?? [];
  const look = { ...request, method: 'GET', path: `${JOBS}/${id}`, body: undefined };
  for (const ask of nodes) if (isObject(await partOf(look, ask))) return ask;
  return undefined;
}

/** Undefined: the node has none, does not answer in time, or answers what is no object. */
async function partOf(request: ForwardedRequest, ask: AskNode): Promise<Part | 'refused' | undefined> {
  try {
    const response = await ask({ ...request, signal: AbortSignal.any([request.signal, AbortSignal.timeout(PART_MS)]) });
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

/** Nodes of one database have the same jobs. */
function rowsOf(parts: readonly Part[], member: string, key: string): Row[] {
  const rows = parts.flatMap((part) => (Array.isArray(part[member]) ? part[member].slice(0, MOST_ROWS).filter(isObject) : []));
  return [...new Map(rows.map((row) => [row[key], row])).values()];
}

function isObject(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function inOrder(rows: readonly Row[], by: string): Row[] {
  const textOf = (row: Row): string => String(row[by]);
  return rows.toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
}

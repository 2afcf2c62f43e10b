/**
 * Files of models between nodes. A file is asked for by its SHA-256, and whoever asks proves what comes; a name is asked for its hash first. Ranges go on
 * where a transfer broke off, also at another node that has the same file.
 */
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { HttpRequest } from '../../../platform/network/http-client.ts';
import type { HttpResponse } from '../../../platform/network/http-response.ts';
import type { InferenceApi, NodeFile, NodeFiles, OwnFile, WantedFile } from '../../inference/index.ts';
import type { LinkRequest } from './link-listener.ts';
import type { Peer } from './peers.ts';

export const MODEL_FILE_PATH = '/model-file/';
const HASH = /^[0-9a-f]{64}$/;
/** Transfers, and files that are hashed for a name, that are under way at once. */
const MOST_AT_ONCE = 4;
/** A node says so soon whether it has a file of that hash; a file that is asked for by its name is read whole for the answer. */
const KNOWN_MS = 10_000;
const HASHED_MS = 15 * 60_000;
/** A node that sends or takes nothing of a file for so long is given up. */
const IDLE_MS = 30_000;

/** Answers other nodes. */
export class ModelFileServer {
  readonly #files: () => InferenceApi['modelFiles'] | undefined;
  readonly #idleMs: number;
  #nRunning = 0;

  constructor(files: () => InferenceApi['modelFiles'] | undefined, idleMs = IDLE_MS) {
    this.#files = files;
    this.#idleMs = idleMs;
  }

  async answer(asked: LinkRequest): Promise<void> {
    const wanted = wantedOf(asked.path);
    const files = this.#files();
    if (wanted === undefined || files === undefined) return refuse(asked, 404);
    if (this.#nRunning >= MOST_AT_ONCE) return refuse(asked, 503);
    this.#nRunning += 1;
    try {
      const gone = new AbortController();
      asked.response.once('close', () => gone.abort());
      const file = await files.find(wanted, gone.signal);
      if (file === undefined) return refuse(asked, 404);
      await send(asked, file, this.#idleMs);
    } finally {
      this.#nRunning -= 1;
    }
  }
}

function wantedOf(path: string): WantedFile | undefined {
  const text = path.slice(MODEL_FILE_PATH.length);
  if (HASH.test(text)) return { sha256: text };
  try {
    return text.startsWith('name/') ? { name: decodeURIComponent(text.slice('name/'.length)) } : undefined;
  } catch {
    return undefined;
  }
}

function refuse({ response }: LinkRequest, status: number): void {
  response.writeHead(status, status === 503 ? { 'retry-after': '1' } : {}).end();
}

async function send({ request, response }: LinkRequest, { path, sizeBytes, sha256 }: OwnFile, idleMs: number): Promise<void> {
  const etag = `"${sha256}"`;
  const condition = request.headers['if-range'];
  const isSame = condition === undefined || condition === etag;
  const start = isSame ? Number(/^bytes=(\d{1,15})-$/.exec(request.headers.range ?? '')?.[1] ?? 0) : 0;
  if (start > sizeBytes || (start === sizeBytes && start > 0)) {
    response.writeHead(416, { etag, 'content-range': `bytes */${sizeBytes}` }).end();
    return;
  }
  response.writeHead(start > 0 ? 206 : 200, {
    etag,
    'content-type': 'application/octet-stream',
    'content-length': sizeBytes - start,
    ...(start > 0 && { 'content-range': `bytes ${start}-${sizeBytes - 1}/${sizeBytes}` }),
  });
  if (request.method === 'HEAD' || sizeBytes === 0) {
    response.end();
    return;
  }
  // One that takes nothing keeps no place from others.
  response.setTimeout(idleMs, () => response.destroy());
  // Whoever asked may go away at any time, and goes on from the bytes that came.
  await pipeline(createReadStream(path, { start, end: sizeBytes - 1 }), response).catch(() => response.destroy());
}

/** Asks other nodes. `opened` resolves once they are known: a pull that a restart interrupted goes on before. */
export function nodeFiles(peers: () => readonly Peer[], opened: Promise<void>): NodeFiles {
  const able = (): Peer[] => peers().filter(({ facts, isAnswering }) => isAnswering && facts.modules.includes('inference'));
  return {
    offers: (name) => able().some(({ cards }) => cards.has(name) && cards.get(name)?.backend === undefined),
    find: async (wanted, signal) => {
      await opened;
      const unasked = peers().filter(({ isAnswering, isSilent }) => !isAnswering && !isSilent);
      await Promise.allSettled(unasked.map((peer) => peer.refresh(signal ?? new AbortController().signal)));
      const found = await Promise.all(able().map((peer) => ask(peer, wanted, signal)));
      return found.filter((file) => file !== undefined);
    },
  };
}

async function ask(peer: Peer, wanted: WantedFile, signal = new AbortController().signal): Promise<NodeFile | undefined> {
  const text = 'sha256' in wanted ? wanted.sha256 : `name/${encodeURIComponent(wanted.name)}`;
  const late = AbortSignal.timeout('sha256' in wanted ? KNOWN_MS : HASHED_MS);
  try {
    const response = await peer.forward(MODEL_FILE_PATH + text, { method: 'HEAD', signal: AbortSignal.any([signal, late]) });
    response.discard();
    const sha256 = response.header('etag')?.replaceAll('"', '') ?? '';
    const sizeBytes = Number(response.header('content-length'));
    if (response.status !== 200 || !HASH.test(sha256) || !(Number.isSafeInteger(sizeBytes) && sizeBytes > 0)) return undefined;
    const path = MODEL_FILE_PATH + sha256;
    const url = new URL(`https://${peer.facts.address}${path}`);
    return {
      node: peer.facts.name,
      sha256,
      sizeBytes,
      url,
      client: { request: (_url, request = {}) => fetchFrom(peer, path, request) },
    };
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

/** The peer counts it as work, so that its connection outlives a change of certificates. */
async function fetchFrom(peer: Peer, path: string, { headers, signal }: HttpRequest): Promise<HttpResponse> {
  const given = signal ?? new AbortController().signal;
  peer.nForwarding += 1;
  let isOver = false;
  const end = (): void => {
    if (!isOver) peer.nForwarding -= 1;
    isOver = true;
  };
  try {
    const response = await peer.forward(path, { ...(headers && { headers }), signal: given, idleMs: IDLE_MS });
    response.body.once('close', end);
    return response;
  } catch (error) {
    end();
    throw error;
  }
}

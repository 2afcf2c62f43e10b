/**
 * The bodies that are frames (`platform/wire/cluster.fbs`) between nodes that both speak them, and JSON with a node of the version before: heartbeats, lists of
 * nodes, reports, vectors and files of snapshots. All other bodies are JSON. A frame stands behind a zero byte, with which no JSON begins.
 */
import type { EmbedResult } from '../../../native/llama-shapes.ts';
import { readFlat } from '../../../platform/wire/flat-reader.ts';
import type { FlatDraft, FlatTable } from '../../../platform/wire/flat-schema.ts';
import { writeFlat } from '../../../platform/wire/flat-writer.ts';
import type { NodeEntry } from '../node-store.ts';
import type { Told } from '../protocol/node-cycle.ts';
import { decode, encode } from './frames.ts';
import type { NodeReport, ReportedCard } from './work.ts';

const Node = {
  id: 'string',
  name: 'string',
  address: 'string',
  version: 'string',
  wire: 'uint',
  roles: '[string]',
  modules: '[string]',
  models: '[string]',
  cpu: 'double',
  memoryFreeBytes: 'ulong',
  isDraining: 'bool',
  hasEnded: 'bool',
  heartbeatMs: 'uint',
  boot: 'string',
} as const;
const Entry = { node: Node, seenMsAgo: 'double' } as const;
const Model = { id: 'string', card: 'string' } as const;
const Load = { nRunning: 'uint', nQueuedTokens: 'ulong', tokensPerSecond: 'double' } as const;
const Primary = { commit: 'ulong', epoch: 'ulong', promotions: 'ulong' } as const;
const Replica = { id: 'string', commit: 'ulong', syncedAt: 'ulong', primaryCommit: 'ulong', roles: '[string]' } as const;
const Report = { id: 'string', models: [Model], load: Load, prefixes: '[int]', primary: Primary, replica: Replica } as const;
const Vectors = { vectors: [{ values: '[float]' }], nTokens: '[int]', others: 'string' } as const;
const Piece = { path: 'string', bytes: '[ubyte]' } as const;
/** One of these: see the file of the schema, whose order of members this is. */
export const Frame = { heartbeat: Node, report: Report, map: [Entry], vectors: Vectors, piece: Piece } as const;

const IDENTIFIER = 'SVCL';
const MARK = Buffer.from([0]);
const BLANK = 0x20;
/** The first wire version with frames. */
const FRAMES_SINCE = 2;

/** Both nodes speak them. */
export function hasFrames(version: number): boolean {
  return version >= FRAMES_SINCE;
}

export function writeFrame(frame: FlatDraft<typeof Frame>): Buffer {
  return Buffer.concat([MARK, writeFlat(Frame, IDENTIFIER, frame)]);
}

/** Undefined: the body is JSON. Throws a FlatFault. Blanks before it say that its sender was at work. */
export function readFrame(body: Buffer): FlatTable<typeof Frame> | undefined {
  let at = 0;
  while (body[at] === BLANK) at += 1;
  return body[at] === MARK[0] ? readFlat(Frame, IDENTIFIER, body.subarray(at + 1)) : undefined;
}

export function writeReport({ id, cards, load, prefixes, primary, replica }: NodeReport, version: number): string | Buffer {
  if (!hasFrames(version)) return encode({ id, cards, load, prefixes, primary, replica });
  const models = cards.map((card) => ({ id: card.id, card: encode(card) }));
  return writeFrame({ report: { id, models, load: rounded(load), prefixes, primary, replica } });
}

/** Throws for what is no report. */
export function readReport(body: Buffer): NodeReport {
  const report = readFrame(body)?.report;
  if (report === undefined) return decode(body) as NodeReport;
  const { id, models, load, prefixes, primary, replica } = report;
  return {
    id,
    cards: models.map(({ card }) => decode(card) as ReportedCard),
    load: load ?? { nRunning: 0, nQueuedTokens: 0, tokensPerSecond: 0 },
    prefixes,
    ...(primary && { primary }),
    ...(replica && { replica }),
  };
}

function rounded({ nRunning, nQueuedTokens, tokensPerSecond }: NodeReport['load']): NodeReport['load'] {
  return { nRunning: Math.round(nRunning), nQueuedTokens: Math.round(nQueuedTokens), tokensPerSecond };
}

export function writeMap(entries: readonly NodeEntry[]): Buffer {
  return writeFrame({ map: entries.map(({ seenMsAgo, ...told }) => ({ node: nodeOf(told), seenMsAgo: Number(seenMsAgo) })) });
}

export function readMap({ map }: FlatTable<typeof Frame>): NodeEntry[] {
  return map.flatMap(({ node, seenMsAgo }) => (node === undefined ? [] : [{ ...toldOf(node), seenMsAgo }]));
}

export function writeHeartbeat(told: Told): Buffer {
  return writeFrame({ heartbeat: nodeOf(told) });
}

/** The columns of lists are JSON. */
function nodeOf({ roles, modules, models, load, draining, ended, heartbeat_ms: heartbeatMs, ...texts }: Told) {
  const { cpu, memory_free_bytes: memoryFreeBytes } = JSON.parse(load) as { cpu: number; memory_free_bytes: number };
  return {
    ...texts,
    roles: JSON.parse(roles) as string[],
    modules: JSON.parse(modules) as string[],
    models: JSON.parse(models) as string[],
    cpu,
    memoryFreeBytes,
    isDraining: draining === 1,
    hasEnded: ended === 1,
    heartbeatMs,
  };
}

export function toldOf(node: FlatTable<typeof Node>): Told {
  const { roles, modules, models, cpu, memoryFreeBytes, isDraining, hasEnded, heartbeatMs, ...texts } = node;
  return {
    ...texts,
    roles: JSON.stringify(roles),
    modules: JSON.stringify(modules),
    models: JSON.stringify(models),
    load: JSON.stringify({ cpu, memory_free_bytes: memoryFreeBytes }),
    draining: isDraining ? 1 : 0,
    ended: hasEnded ? 1 : 0,
    heartbeat_ms: heartbeatMs,
  };
}

export function writeVectors({ vectors, nTokens, ...others }: EmbedResult): Buffer {
  const values = vectors.map((each) => ({ values: each }));
  return writeFrame({ vectors: { vectors: values, nTokens: Int32Array.from(nTokens), others: encode(others) } });
}

export function readVectors({ vectors, nTokens, others }: FlatTable<typeof Vectors>): EmbedResult {
  const said = decode(others || '{}') as Omit<EmbedResult, 'vectors' | 'nTokens'>;
  return { ...said, vectors: vectors.map(({ values }) => values), nTokens: [...nTokens] };
}

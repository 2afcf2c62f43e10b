/** Memories, and their vectors, as sections of a memory file: what is read may be anybody's bytes, and is checked whole. Pure. */
import Type from 'typebox';
import { compileLazily } from '../../../platform/schema/compile-lazily.ts';
import type { FileSection, SectionKind } from './directory.ts';

/** A memory as a file has it. Times are milliseconds since 1970. */
export interface FiledMemory {
  readonly id: string;
  readonly kind: 'fact' | 'preference' | 'episode' | 'summary';
  readonly text: string;
  readonly subject?: string | undefined;
  readonly validFrom: number;
  readonly validTo?: number | undefined;
  readonly recordedAt: number;
}

/** Vectors of memories, by the ids of these. */
export interface FiledVectors {
  readonly model: string;
  readonly prefixes: string;
  readonly dimensions: number;
  readonly byId: ReadonlyMap<string, Float32Array>;
}

const Time = Type.Integer({ minimum: -62_135_596_800_000, maximum: 253_402_300_799_999 });
const Id = Type.String({ pattern: '^mem_[0-9a-f-]{36}$' });
const Episodes = Type.Array(
  Type.Object({
    id: Id,
    kind: Type.Enum(['fact', 'preference', 'episode', 'summary']),
    text: Type.String({ minLength: 1, maxLength: 100_000 }),
    subject: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000 })),
    validFrom: Time,
    validTo: Type.Optional(Time),
    recordedAt: Time,
  }),
  { maxItems: 1_000_000 },
);
const Vectors = Type.Object({
  model: Type.String({ minLength: 1, maxLength: 200 }),
  prefixes: Type.String({ maxLength: 200 }),
  dimensions: Type.Integer({ minimum: 1, maximum: 16_384 }),
  ids: Type.Array(Id, { maxItems: 1_000_000 }),
});
const areEpisodes = compileLazily(Episodes);
const areVectors = compileLazily(Vectors);

/** Sections of these kinds are of an owner, whom their name says; those of other kinds are learned, and the whole tenant's. */
export const OWNED_KINDS: readonly SectionKind[] = ['episodes', 'slots', 'vectors'];

/** Parts of one owner that come from several files have this mark and a number behind their name. */
export const PART_MARK = '#';

/** Undefined: the section is the whole tenant's. */
export function ownerOfSection({ kind, name }: Pick<FileSection, 'kind' | 'name'>): string | undefined {
  return OWNED_KINDS.includes(kind) ? name.split(PART_MARK, 1)[0] : undefined;
}

/** Whether a caller reaches the section who is one of these owners. */
export function isReached(section: Pick<FileSection, 'kind' | 'name'>, owners: readonly string[]): boolean {
  const owner = ownerOfSection(section);
  return owner === undefined || owners.includes(owner);
}

export function episodesSection(memories: readonly FiledMemory[]): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(memories));
}

/** Undefined: the bytes are no such section. */
export function readEpisodes(bytes: Uint8Array): FiledMemory[] | undefined {
  const memories = parsed(bytes);
  return areEpisodes.Check(memories) ? memories : undefined;
}

export function vectorsSection({ model, prefixes, dimensions, byId }: FiledVectors): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify({ model, prefixes, dimensions, ids: [...byId.keys()] }));
  const bytes = new Uint8Array(4 + json.length + 4 * dimensions * byId.size);
  new DataView(bytes.buffer).setUint32(0, json.length, true);
  bytes.set(json, 4);
  let at = 4 + json.length;
  for (const vector of byId.values()) {
    bytes.set(new Uint8Array(Float32Array.from(vector).buffer), at);
    at += 4 * dimensions;
  }
  return bytes;
}

/** Undefined: the bytes are no such section, or not each vector has length 1. */
export function readVectors(bytes: Uint8Array): FiledVectors | undefined {
  const nJson = bytes.length < 4 ? 0 : new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  if (4 + nJson > bytes.length) return undefined;
  const facts = parsed(bytes.subarray(4, 4 + nJson));
  if (!areVectors.Check(facts)) return undefined;
  const { model, prefixes, dimensions, ids } = facts;
  const nBytes = 4 * dimensions;
  if (bytes.length !== 4 + nJson + nBytes * ids.length) return undefined;
  const byId = new Map<string, Float32Array>();
  for (const [i, id] of ids.entries()) {
    const at = 4 + nJson + nBytes * i;
    const vector = new Float32Array(bytes.slice(at, at + nBytes).buffer);
    if (!(Math.abs(norm(vector) - 1) < MOST_OFF)) return undefined;
    byId.set(id, vector);
  }
  return { model, prefixes, dimensions, byId };
}

const MOST_OFF = 1e-3;

function norm(vector: Float32Array): number {
  let sum = 0;
  for (const value of vector) sum += value * value;
  return Math.sqrt(sum);
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

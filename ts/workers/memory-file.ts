/** Tasks of the worker pool: memory files are listed, read, changed and merged. A file is checked before anything in it is read. */
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type FileSection, MemoryFileFault, type SectionKind } from '../server/domains/memory/files/directory.ts';
import {
  type FiledMemory,
  type FiledVectors,
  isReached,
  ownerOfSection,
  PART_MARK,
  readEpisodes,
  readVectors,
} from '../server/domains/memory/files/filed-memories.ts';
import {
  checkedSections,
  listSections,
  readMemoryFile,
  readSections,
  readWhole,
  type SectionData,
  writeMemoryFile,
  writeWhole,
} from '../server/domains/memory/files/memory-file.ts';

/** Stands behind the name of a file as it was before it was consolidated. */
const BACKUP = '.pre-consolidate.bak';

export type MemoryFileTask =
  | { readonly kind: 'list'; readonly folder: string; readonly owners: readonly string[] }
  | { readonly kind: 'sections'; readonly path: string; readonly owners: readonly string[] }
  | { readonly kind: 'read'; readonly path: string; readonly owners: readonly string[] }
  | { readonly kind: 'digest'; readonly path: string }
  | {
      readonly kind: 'put';
      readonly path: string;
      /** Sections of these kinds that the file has of this owner are replaced. */
      readonly owner: string;
      readonly kinds: readonly SectionKind[];
      readonly sections: readonly SectionData[];
      readonly created: number;
    }
  | {
      readonly kind: 'remove';
      readonly path: string;
      readonly section: { readonly kind: SectionKind; readonly name: string };
      readonly created: number;
    }
  | { readonly kind: 'consolidate'; readonly path: string; readonly from: readonly string[]; readonly created: number }
  | { readonly kind: 'holders'; readonly folder: string; readonly owner: string; readonly ids: readonly string[] }
  | { readonly kind: 'owners'; readonly folder: string }
  | { readonly kind: 'erase'; readonly path: string; readonly owner: string; readonly created: number };

/** Memories of one owner, with the vectors beside them. */
interface FiledPart {
  /** The name of its sections. */
  readonly name: string;
  readonly memories: readonly FiledMemory[];
  readonly vectors: FiledVectors | undefined;
}

export interface ListedFile {
  readonly file: string;
  readonly sizeBytes: number;
}

export type MemoryFileReply =
  | { readonly kind: 'files'; readonly files: readonly ListedFile[] }
  | { readonly kind: 'sections'; readonly sections: readonly FileSection[]; readonly nHidden: number }
  | {
      readonly kind: 'parts';
      readonly sections: readonly FileSection[];
      readonly nHidden: number;
      readonly parts: readonly FiledPart[];
    }
  | { readonly kind: 'digest'; readonly sha256: string }
  | { readonly kind: 'holders'; readonly files: readonly string[] }
  | { readonly kind: 'owners'; readonly owners: readonly string[] }
  | { readonly kind: 'done' }
  | { readonly kind: 'fault'; readonly detail: string };

export function run(task: MemoryFileTask): MemoryFileReply {
  try {
    return reply(task);
  } catch (error) {
    if (error instanceof MemoryFileFault) return { kind: 'fault', detail: error.message };
    throw error;
  }
}

function reply(task: MemoryFileTask): MemoryFileReply {
  switch (task.kind) {
    case 'list':
      return { kind: 'files', files: listFiles(task.folder, task.owners) };
    case 'sections': {
      const all = checkedSections(readWhole(task.path));
      const sections = all.filter((section) => isReached(section, task.owners));
      return { kind: 'sections', sections, nHidden: all.length - sections.length };
    }
    case 'read':
      return readParts(task.path, task.owners);
    case 'digest':
      return { kind: 'digest', sha256: createHash('sha256').update(readWhole(task.path)).digest('hex') };
    case 'put': {
      const sections = existsSync(task.path) ? readMemoryFile(task.path) : [];
      const kept = sections.filter((section) => ownerOfSection(section) !== task.owner || !task.kinds.includes(section.kind));
      writeMemoryFile(task.path, [...kept, ...task.sections], task.created);
      return { kind: 'done' };
    }
    case 'remove': {
      const isRemoved = ({ kind, name }: SectionData) => kind === task.section.kind && name === task.section.name;
      for (const path of [task.path, task.path + BACKUP]) if (existsSync(path)) without(path, isRemoved, task.created);
      return { kind: 'done' };
    }
    case 'consolidate':
      consolidate(task.path, task.from, task.created);
      return { kind: 'done' };
    case 'holders':
      return { kind: 'holders', files: holdersOf(task.folder, task.owner, new Set(task.ids)) };
    case 'owners':
      return { kind: 'owners', owners: ownersIn(task.folder) };
    case 'erase':
      for (const path of [task.path, task.path + BACKUP])
        if (lstatSync(path, { throwIfNoEntry: false })?.isFile()) erase(path, task.owner, task.created);
      return { kind: 'done' };
  }
}

/** Files in which the owners reach something, and those without sections. One that is damaged is nobody's. */
function listFiles(folder: string, owners: readonly string[]): ListedFile[] {
  return filesIn(folder, '.exmm').flatMap(({ name, path }) =>
    orNothing(() => {
      const sections = listSections(path);
      const isTheirs = sections.length === 0 || sections.some((section) => isReached(section, owners));
      return isTheirs ? [{ file: name, sizeBytes: lstatSync(path).size }] : [];
    }),
  );
}

function filesIn(folder: string, ...ends: readonly string[]): { name: string; path: string }[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && ends.some((end) => entry.name.endsWith(end)))
    .map(({ name }) => ({ name, path: join(folder, name) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function readParts(path: string, owners: readonly string[]): MemoryFileReply {
  const all = listSections(path);
  const sections = all.filter((section) => isReached(section, owners));
  const isOwned = (section: FileSection) => ownerOfSection(section) !== undefined && isReached(section, owners);
  const data = readSections(path, isOwned);
  const parts = data
    .filter(({ kind }) => kind === 'episodes')
    .map(({ name, bytes }) => {
      const memories = readEpisodes(bytes);
      if (memories === undefined) throw new MemoryFileFault(`its section episodes ${name} is of another form`);
      const beside = data.find((section) => section.kind === 'vectors' && section.name === name);
      const vectors = beside && readVectors(beside.bytes);
      if (beside !== undefined && vectors === undefined)
        throw new MemoryFileFault(`its section vectors ${name} is of another form`);
      return { name, memories, vectors };
    });
  return { kind: 'parts', sections, nHidden: all.length - sections.length, parts };
}

/** A file that has no section afterwards goes. */
function without(path: string, isRemoved: (section: SectionData) => boolean, created: number): void {
  const sections = readMemoryFile(path);
  const kept = sections.filter((section) => !isRemoved(section));
  if (kept.length === sections.length) return;
  if (kept.length === 0) rmSync(path);
  else writeMemoryFile(path, kept, created);
}

/** Keeps sections of others that are whole where the file is damaged; one whose directory cannot be read goes: it could hold anything of the owner. */
function erase(path: string, owner: string, created: number): void {
  const isOwn = (section: SectionData | FileSection): boolean => ownerOfSection(section) === owner;
  try {
    without(path, isOwn, created);
  } catch (error) {
    if (!(error instanceof MemoryFileFault)) throw error;
    const kept = wholeSections(path).filter((section) => !isOwn(section));
    if (kept.length === 0) rmSync(path);
    else writeMemoryFile(path, kept, created);
  }
}

function wholeSections(path: string): SectionData[] {
  return orNothing(() => listSections(path)).flatMap(({ kind, name }) =>
    orNothing(() => readSections(path, (each) => each.kind === kind && each.name === name)),
  );
}

/** Nothing of a file that is damaged, or went meanwhile. */
function orNothing<T>(read: () => T[]): T[] {
  try {
    return read();
  } catch (error) {
    if (error instanceof MemoryFileFault || (error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Sections of the other files are added; each keeps its bytes. One whose name is taken gets a number, the same as all of its owner from that file. */
function consolidate(path: string, from: readonly string[], created: number): void {
  const before = readWhole(path);
  checkedSections(before);
  const sections = readMemoryFile(path);
  const nBefore = sections.length;
  for (const other of from) for (const section of added(sections, readMemoryFile(other))) sections.push(section);
  // A job that is repeated finds its work done, and leaves the file from before it where it is.
  if (from.length > 0 && sections.length === nBefore && existsSync(path + BACKUP)) return;
  writeWhole(path + BACKUP, before);
  writeMemoryFile(path, sections, created);
}

function added(there: readonly SectionData[], others: readonly SectionData[]): SectionData[] {
  const places = new Set(there.map(placeOf));
  const fresh = others.filter((other) => !there.some((one) => isSame(one, other)));
  return [...Map.groupBy(fresh, baseOf)].flatMap(([base, group]) => {
    for (let part = 1; ; part += 1) {
      const named = group.map((section) => ({ ...section, name: partName(base, section.name, part) }));
      if (named.every((section) => !places.has(placeOf(section)))) return named;
    }
  });
}

/** The same bytes of the same owner, or of the same learned section, in whichever part. */
function isSame(one: SectionData, other: SectionData): boolean {
  return one.kind === other.kind && baseOf(one) === baseOf(other) && Buffer.compare(one.bytes, other.bytes) === 0;
}

function baseOf({ name }: SectionData): string {
  return name.split(PART_MARK, 1)[0] ?? name;
}

/** Parts that a file has itself stay apart: their numbers are counted on. */
function partName(base: string, name: string, part: number): string {
  const own = Number(name.slice(base.length + 1)) || 1;
  const number = own + part - 1;
  return number === 1 ? base : `${base}${PART_MARK}${number}`;
}

function placeOf({ kind, name }: SectionData): string {
  return `${kind} ${name}`;
}

/** Files that are damaged name none. */
function ownersIn(folder: string): string[] {
  const owners = filesIn(folder, '.exmm', BACKUP).flatMap(({ path }) =>
    orNothing(() => listSections(path).flatMap((section) => ownerOfSection(section) ?? [])),
  );
  return [...new Set(owners)];
}

/** A file that is damaged holds nothing that could be loaded. */
function holdersOf(folder: string, owner: string, ids: ReadonlySet<string>): string[] {
  const isOfOwner = (section: FileSection) => section.kind === 'episodes' && ownerOfSection(section) === owner;
  return filesIn(folder, '.exmm', BACKUP).flatMap(({ name, path }) =>
    orNothing(() => {
      const memories = readSections(path, isOfOwner).flatMap(({ bytes }) => readEpisodes(bytes) ?? []);
      return memories.some(({ id }) => ids.has(id)) ? [name] : [];
    }),
  );
}

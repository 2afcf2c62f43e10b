/** The directory of a memory file as a FlatBuffer of `platform/wire/exmm.fbs`. Pure. */
import { FlatFault, readFlat } from '../../../platform/wire/flat-reader.ts';
import type { FlatTable } from '../../../platform/wire/flat-schema.ts';
import { writeFlat } from '../../../platform/wire/flat-writer.ts';

export const SECTION_KINDS = ['episodes', 'slots', 'vectors', 'world_model', 'router'] as const;
export type SectionKind = (typeof SECTION_KINDS)[number];

export interface FileSection {
  readonly kind: SectionKind;
  readonly name: string;
  /** Bytes from the begin of the file. */
  readonly offset: number;
  readonly size: number;
  readonly sha256: Uint8Array;
}

/** The file is no memory file, or is damaged. */
export class MemoryFileFault extends Error {
  override readonly name = 'MemoryFileFault';
  readonly code = 'memory_file_invalid';
}

export const MAX_DIRECTORY_BYTES = 2 ** 20;
export const MAX_SECTIONS = 4_096;
const MAX_NAME_BYTES = 200;
const IDENTIFIER = 'EXMM';
const SHA256_BYTES = 32;

const Section = { kind: 'ubyte', name: 'string', offset: 'ulong', size: 'ulong', sha256: '[ubyte]' } as const;
const Directory = { created: 'ulong', sections: [Section] } as const;

export function writeDirectory(created: number, sections: readonly FileSection[]): Uint8Array {
  const tables = sections.map(({ kind, ...others }) => ({ ...others, kind: SECTION_KINDS.indexOf(kind) }));
  return writeFlat(Directory, IDENTIFIER, { created, sections: tables });
}

/** Throws a MemoryFileFault. */
export function readDirectory(bytes: Uint8Array): FileSection[] {
  try {
    const { sections } = readFlat(Directory, IDENTIFIER, bytes);
    if (sections.length > MAX_SECTIONS) throw new MemoryFileFault(`the directory has more than ${MAX_SECTIONS} sections`);
    return sections.map(sectionOf);
  } catch (error) {
    if (error instanceof FlatFault) throw new MemoryFileFault(`the directory is damaged: ${error.message}`);
    throw error;
  }
}

function sectionOf({ kind: number, sha256, ...others }: FlatTable<typeof Section>): FileSection {
  const kind = SECTION_KINDS[number];
  if (kind === undefined) throw new MemoryFileFault('a section is of a kind that nobody knows');
  if (sha256.length !== SHA256_BYTES) throw new MemoryFileFault('a section lacks its SHA-256');
  if (Buffer.byteLength(others.name) > MAX_NAME_BYTES) throw new MemoryFileFault('the name of a section is too long');
  return { ...others, kind, sha256: Uint8Array.from(sha256) };
}

export function aligned(at: number, to: number): number {
  return Math.ceil(at / to) * to;
}

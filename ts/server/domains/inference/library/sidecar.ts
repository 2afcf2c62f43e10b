/** Keeps what the library remembers of a model beside its file, in `<name>.json`: where it came from and what its bytes must hash to. */
import { readFile } from 'node:fs/promises';
import { Type } from 'typebox';
import { writeFileAtomically } from '../../../platform/files/atomic-file.ts';
import { compileLazily } from '../../../platform/schema/compile-lazily.ts';

const schema = compileLazily(
  Type.Object({
    /** The origin of the file: a hub reference, a URL without its query, or a path. */
    source: Type.Optional(Type.String()),
    license: Type.Optional(Type.String()),
    /** ISO 8601. */
    pulledAt: Type.Optional(Type.String()),
    /** Commit of the hub's repository. */
    revision: Type.Optional(Type.String()),
    /** A plain sentence for demonstration models. */
    demonstration: Type.Optional(Type.String()),
    /** Each file of the model, by name only. */
    files: Type.Optional(
      Type.Array(
        Type.Object({ file: Type.String(), sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }), sizeBytes: Type.Number() }),
      ),
    ),
  }),
);

export interface SidecarFile {
  file: string;
  sha256: string;
  sizeBytes: number;
}

export interface Sidecar {
  source?: string;
  license?: string;
  pulledAt?: string;
  revision?: string;
  demonstration?: string;
  files?: SidecarFile[];
}

/** Undefined when there is none, or when it is not one of ours (people keep other JSON beside models). */
export async function findSidecar(path: string): Promise<Sidecar | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined || text.length > 1_000_000) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return schema.Check(value) ? (value as Sidecar) : undefined;
  } catch {
    return undefined;
  }
}

export function writeSidecar(path: string, sidecar: Sidecar): Promise<void> {
  return writeFileAtomically(path, `${JSON.stringify(sidecar, null, 2)}\n`);
}

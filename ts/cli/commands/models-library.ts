import { type LibraryEntry, storedModel } from '../../server/domains/inference/library/index.ts';

/** A model as `--json` prints it. */
export function modelRecord(entry: LibraryEntry): Record<string, unknown> {
  const { name, paths, sizeBytes, modifiedMs, removable, facts, sidecar, projectorPath, problem } = entry;
  const stored = storedModel(entry);
  return {
    name,
    kind: facts?.kind ?? null,
    usable: stored !== undefined,
    size_bytes: sizeBytes,
    architecture: facts?.architecture ?? null,
    family: facts?.family ?? null,
    parameters: facts?.nParams ?? null,
    quantisation: facts?.quantisation ?? null,
    context_length: facts?.nCtxTrain ?? null,
    license: stored?.license ?? sidecar?.license ?? null,
    source: sidecar?.source ?? null,
    sha256: sidecar?.files?.map(({ sha256 }) => sha256) ?? [],
    paths,
    projector: projectorPath ?? null,
    modified_at: new Date(modifiedMs).toISOString(),
    removable,
    demonstration: stored?.demonstration ?? null,
    problem: problem ?? null,
  };
}

/** One word for a list, a sentence for a page. */
export function stateOf({ facts, problem, sidecar }: LibraryEntry): string {
  if (problem !== undefined) return 'broken';
  if (sidecar?.demonstration !== undefined || facts?.demonstration !== undefined) return 'demonstration';
  return 'ready';
}

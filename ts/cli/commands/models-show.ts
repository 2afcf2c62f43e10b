import { findInCatalogue, type LibraryEntry, LibraryError } from '../../server/domains/inference/library/index.ts';
import { command } from '../command.ts';
import { openLibrary, readConfig } from '../configuration.ts';
import { formatBytes, printable } from '../format.ts';
import { modelRecord, stateOf } from './models-library.ts';

export const modelsShow = command({
  words: ['models', 'show'],
  summary: 'Show what is known of one model',
  positionals: [{ name: 'NAME', help: 'a model of this machine, or of the catalogue' }],
  examples: ['svc models show bge-m3-q8_0'],
  async run(invocation) {
    const { positionals, terminal } = invocation;
    const [name = ''] = positionals;
    const entry = await openLibrary(readConfig(invocation))
      .get(name)
      .catch((error: unknown) => {
        if (error instanceof LibraryError && error.code === 'not_found' && findInCatalogue(name)) return undefined;
        throw error;
      });
    if (entry) terminal.result({ installed: true, ...modelRecord(entry) }, page(describe(entry)));
    else {
      const { sizeBytes, sha256, wheel, ...model } = findInCatalogue(name) ?? { sizeBytes: 0 };
      const pack = wheel && `${wheel.package}==${wheel.version}`;
      const record = {
        installed: false,
        ...model,
        size_bytes: sizeBytes,
        sha256: sha256 === undefined ? [] : [sha256],
        package: pack,
      };
      const facts = {
        ...model,
        package: pack,
        size: formatBytes(sizeBytes),
        sha256,
        state: `not on this machine; svc models pull ${name}`,
      };
      terminal.result(record, page(facts));
    }
    return 'ok';
  },
});

function describe(entry: LibraryEntry): Record<string, string | number | undefined> {
  const { facts, sidecar } = entry;
  const record = modelRecord(entry);
  return {
    name: entry.name,
    state: entry.problem === undefined ? stateOf(entry) : `broken: ${entry.problem}`,
    kind: facts?.kind,
    title: facts?.title,
    architecture: facts?.architecture,
    parameters: facts?.nParams ? `${(facts.nParams / 1e6).toFixed(0)} million` : undefined,
    format: facts?.quantisation,
    context: facts?.nCtxTrain ? `${facts.nCtxTrain} tokens` : undefined,
    size: formatBytes(entry.sizeBytes),
    license: typeof record['license'] === 'string' ? record['license'] : undefined,
    source: sidecar?.source,
    sha256: sidecar?.files?.map(({ sha256 }) => sha256).join(' '),
    path: entry.paths.join('\n'.padEnd(15)),
    projector: entry.projectorPath,
    note: sidecar?.demonstration ?? facts?.demonstration,
  };
}

function page(facts: Record<string, string | number | undefined>): string {
  const lines = Object.entries(facts).filter(([, value]) => value !== undefined && value !== '');
  return lines.map(([key, value]) => `${key.padEnd(13)} ${printable(String(value))}`).join('\n');
}

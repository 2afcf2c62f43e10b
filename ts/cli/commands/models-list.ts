import { catalogue } from '../../server/domains/inference/library/index.ts';
import { command } from '../command.ts';
import { openLibrary, readConfig } from '../configuration.ts';
import { formatBytes, formatTable, printable } from '../format.ts';
import type { Terminal } from '../terminal.ts';
import { modelRecord, stateOf } from './models-library.ts';

export const modelsList = command({
  words: ['models', 'list'],
  summary: 'List the models on this machine, or those that can be pulled',
  options: { catalogue: { kind: 'flag', help: 'list what `svc models pull` knows by name' } },
  examples: ['svc models list', 'svc models list --catalogue'],
  async run(invocation) {
    const { options, terminal } = invocation;
    if (options.catalogue) return listCatalogue(terminal);
    const library = openLibrary(readConfig(invocation));
    const entries = await library.entries();
    const rows = entries.map((entry) => [
      entry.name,
      entry.facts?.kind ?? '-',
      formatBytes(entry.sizeBytes),
      entry.facts?.quantisation ?? '-',
      entry.problem === undefined ? stateOf(entry) : `broken: ${printable(entry.problem)}`,
    ]);
    const empty = `No models in ${library.modelsDir}. \`svc models list --catalogue\` shows what can be pulled.`;
    terminal.result(
      entries.map(modelRecord),
      rows.length === 0 ? empty : formatTable(['NAME', 'KIND', 'SIZE', 'FORMAT', 'STATE'], rows),
    );
    return 'ok';
  },
});

function listCatalogue(terminal: Terminal): 'ok' {
  const rows = catalogue.map(({ name, kind, sizeBytes, license, note }) => [name, kind, formatBytes(sizeBytes), license, note]);
  const records = catalogue.map(({ name, kind, repo, file, revision, sha256, sizeBytes, license, note }) => ({
    ...{ name, kind, repo, file, revision },
    ...{ sha256: sha256 ?? null, size_bytes: sizeBytes, license, note },
  }));
  terminal.result(records, formatTable(['NAME', 'KIND', 'SIZE', 'LICENSE', 'NOTE'], rows));
  return 'ok';
}

import { SAVED_FILE } from './platform/config/saved-values.ts';
import type { AnyModuleDefinition } from './platform/module/module.ts';
import type { StateFile } from './platform/module/state-file.ts';

/** What a node with these modules keeps in data_dir beside the database. */
export function stateFilesOf(definitions: readonly AnyModuleDefinition[]): StateFile[] {
  return [
    { name: 'node.json', kind: 'file' },
    { name: SAVED_FILE, kind: 'file' },
    ...definitions.flatMap(({ stateFiles = [] }) => stateFiles),
  ];
}

/** Values that were saved while the node ran, in settings.json of data_dir: above the files of the configuration, below the environment. */
import { readFileSync } from 'node:fs';
import { writeFileAtomically } from '../files/atomic-file.ts';

export const SAVED_FILE = 'settings.json';

/** Raw values by key. */
export type SavedValues = Readonly<Record<string, unknown>>;

/** `problem`: why the file is not heeded. A node starts without it, so that what was saved in a page can be corrected there. */
export function readSavedValues(path: string): { values: SavedValues; problem?: string } {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { values: value as SavedValues };
    return { values: {}, problem: `${path} holds no saved settings` };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { values: {} };
    return { values: {}, problem: `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** For the account of the server alone. */
export async function writeSavedValues(path: string, values: SavedValues): Promise<void> {
  await writeFileAtomically(path, `${JSON.stringify(values, undefined, 2)}\n`, 0o600);
}

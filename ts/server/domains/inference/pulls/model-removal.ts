/** Deletes a model: out of memory first, then off the disk. */
import type { ModelControl } from '../backend.ts';
import { inferenceError } from '../errors.ts';
import { type LibraryEntry, LibraryError, type ModelLibrary } from '../library/index.ts';
import { libraryRefusal } from './library-failure.ts';

export type ModelRemover = Pick<ModelLibrary, 'get' | 'remove'>;

/** Throws InferenceError model_not_found, model_read_only, or model_in_use, which `force` overrules unless a pull is at work on the files. */
export async function removeModel(
  control: ModelControl,
  library: ModelRemover,
  name: string,
  { force }: { force: boolean },
): Promise<LibraryEntry> {
  try {
    const { name: id, removable } = await library.get(name);
    if (removable) await free(control, id, force);
    // One that is not removable is refused by the library, with the reason.
    const removed = await library.remove(id);
    control.rescan();
    // A request that came between the two may have loaded it again.
    await control.unload(id, { force: true });
    return removed;
  } catch (error) {
    throw asRefusal(error, name);
  }
}

async function free(control: ModelControl, id: string, force: boolean): Promise<void> {
  const nJobs = control.countJobs(id);
  if (nJobs > 0 && !force)
    throw inferenceError('model_in_use', `${nJobs} requests use ${id}; wait for them, or give force=true to end them.`);
  await control.unload(id, { force });
}

function asRefusal(error: unknown, name: string): unknown {
  const isMissing = error instanceof LibraryError && (error.code === 'not_found' || error.code === 'invalid_name');
  if (!isMissing) return libraryRefusal(error);
  const sentence = `There is no model ${JSON.stringify(name.slice(0, 120))} in the library; GET /api/v1/models lists all.`;
  return inferenceError('model_not_found', sentence, { param: 'id', cause: error });
}

/**
 * The files of a model in memory. They are mapped, so what somebody writes into one is what the model computes with: a change is found by the
 * size and the time of the file itself, whatever its path names by then. A file that another one is moved over is not changed by that.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { basename } from 'node:path';

interface WatchedFile {
  readonly path: string;
  readonly handle: FileHandle;
  readonly sizeBytes: bigint;
  readonly changedNs: bigint;
}

export class ModelFiles {
  readonly #files: readonly WatchedFile[];

  private constructor(files: readonly WatchedFile[]) {
    this.#files = files;
  }

  /** Opens the files as they are now; those that cannot be opened are left to the load, which says why. */
  static async open(paths: readonly string[]): Promise<ModelFiles> {
    const opened = await Promise.all(paths.map((path) => watch(path).catch(() => undefined)));
    return new ModelFiles(opened.filter((file) => file !== undefined));
  }

  /** Says what has happened to one of the files, for clients as well; undefined: nothing. */
  async findChange(): Promise<string | undefined> {
    for (const { path, handle, sizeBytes, changedNs } of this.#files) {
      const now = await handle.stat({ bigint: true }).catch(() => undefined);
      if (now === undefined) continue;
      if (now.size < sizeBytes) return `${basename(path)} was cut from ${sizeBytes} to ${now.size} bytes`;
      if (now.size !== sizeBytes || now.mtimeNs !== changedNs) return `${basename(path)} was written into`;
    }
    return undefined;
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#files.map(({ handle }) => handle.close()));
  }
}

/** The paths of all parts of a model whose first part this is. */
export function partsOf(path: string): string[] {
  const [suffix, , count] = /-(\d{5})-of-(\d{5})\.gguf$/.exec(path) ?? [];
  if (suffix === undefined) return [path];
  const stem = path.slice(0, -suffix.length);
  return Array.from({ length: Number(count) }, (_, i) => `${stem}-${String(i + 1).padStart(5, '0')}-of-${count}.gguf`);
}

async function watch(path: string): Promise<WatchedFile> {
  const handle = await open(path, 'r');
  const { size, mtimeNs } = await handle.stat({ bigint: true });
  return { path, handle, sizeBytes: size, changedNs: mtimeNs };
}

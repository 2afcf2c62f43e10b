/** Makes and opens native indexes of vectors, and says what this machine lacks for them. */

import type {
  OpenVectors,
  SavableVectors,
  VectorNotice,
  VectorStorageOptions,
} from '../server/domains/retrieval/index/vector-index.ts';
import { AddonLoadError, CpuUnsupportedError } from '../server/native/load.ts';
import { NativeError, VectorIndex as NativeVectors, type VectorIndexOptions } from '../server/native/vector.ts';

export class VectorStorage implements OpenVectors {
  readonly #options: VectorStorageOptions;
  readonly #onNotice: (notice: VectorNotice) => void;

  constructor(options: VectorStorageOptions, onNotice: (notice: VectorNotice) => void) {
    this.#options = options;
    this.#onNotice = onNotice;
  }

  /** Undefined: addons cannot be loaded here. */
  create(dimensions: number, label: string): SavableVectors | undefined {
    try {
      return this.#withFolder((folder) => new NativeVectors({ ...this.#optionsOf(dimensions, label), ...folder }));
    } catch (error) {
      if (!isLoadError(error)) throw error;
      this.#onNotice({ code: 'vector_addon_unavailable', reason: error.message });
      return undefined;
    }
  }

  /** Of a file that stays mapped. Rejects with NativeError, and as loading the addon does. */
  async open(path: string, dimensions: number, label: string): Promise<SavableVectors> {
    const options = { ...this.#optionsOf(dimensions, label), ...this.#folder() };
    return await NativeVectors.open(path, options, { isViewed: true });
  }

  #optionsOf(dimensions: number, label: string): VectorIndexOptions {
    return { dimensions, label, storage: this.#options.kind };
  }

  #folder(): Pick<VectorIndexOptions, 'exactFolder'> {
    const { kind, exactFolder } = this.#options;
    return kind === 'f16' ? {} : { exactFolder };
  }

  /** Where the folder cannot be written, all is in memory. */
  #withFolder(create: (folder: Pick<VectorIndexOptions, 'exactFolder'>) => SavableVectors): SavableVectors {
    try {
      return create(this.#folder());
    } catch (error) {
      if (!(error instanceof NativeError) || error.code !== 'index_write_failed') throw error;
      this.#onNotice({ code: 'vector_folder_unavailable', reason: error.message });
      return create({});
    }
  }
}

function isLoadError(error: unknown): error is AddonLoadError | CpuUnsupportedError {
  return error instanceof AddonLoadError || error instanceof CpuUnsupportedError;
}

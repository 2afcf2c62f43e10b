/** Master memory: what a file has of its tenant, pinned by a superadmin, so that everybody's searches find it and nobody changes it. */
import { type Principal, scopeOf } from '../../platform/http/principal.ts';
import type { TenantScope } from '../../platform/storage/index.ts';
import { memoryError } from './errors.ts';
import type { FileLoading, Loaded } from './files/file-loading.ts';
import type { FilePin, FilePins } from './files/file-pins.ts';
import type { MemoryFiles } from './files/memory-files.ts';
import { MASTER, type MemoryCollection } from './memory.ts';
import type { MemoryStore } from './store.ts';

interface MasterMemoryOptions {
  readonly pins: FilePins;
  readonly files: Pick<MemoryFiles, 'digest'>;
  readonly loading: Pick<FileLoading, 'fill' | 'detach'>;
  readonly store: Pick<MemoryStore, 'collections'>;
}

export class MasterMemory {
  readonly #options: MasterMemoryOptions;

  constructor(options: MasterMemoryOptions) {
    this.#options = options;
  }

  /** Undefined: none is pinned. */
  async get(): Promise<FilePin | undefined> {
    return await this.#options.pins.find();
  }

  /** The collection is searched for all tenants; undefined: none is. */
  async searched(): Promise<{ scope: TenantScope; collection: MemoryCollection } | undefined> {
    const { pins, store } = this.#options;
    const pin = await pins.lately();
    if (pin === undefined) return undefined;
    const [collection] = await store.collections({ ...pin.scope, owners: [MASTER] });
    return collection && { scope: pin.scope, collection };
  }

  /** Takes the place of the one before. Throws what FileLoading.fill() throws, and `memory_file_changed` where the file is another one than was meant. */
  async pin(caller: Principal, file: string, meant: string | undefined, signal: AbortSignal): Promise<FilePin & Loaded> {
    const { pins, files, loading } = this.#options;
    const scope = scopeOf(caller);
    const before = await pins.find();
    const sha256 = await files.digest(scope, file, signal);
    if (meant !== undefined && meant !== sha256)
      throw memoryError('memory_file_changed', `The file ${file} has the SHA-256 ${sha256}.`, { param: 'sha256' });
    const loaded = await loading.fill(scope, MASTER, file, signal);
    await pins.set({ scope, file, sha256 });
    if (before !== undefined && before.scope.tenant !== scope.tenant) await loading.detach(before.scope, MASTER);
    return { scope, sha256, ...loaded };
  }

  /** Also where none is pinned. */
  async unpin(): Promise<void> {
    const { pins, loading } = this.#options;
    const pin = await pins.find();
    if (pin === undefined) return;
    await pins.remove();
    await loading.detach(pin.scope, MASTER);
  }

  /** The tenant of the file is deleted. */
  async unpinOf({ tenant }: TenantScope): Promise<void> {
    if ((await this.#options.pins.find())?.scope.tenant === tenant) await this.#options.pins.remove();
  }
}

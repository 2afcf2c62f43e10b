/** The file that a superadmin pinned as master memory, in whichever tenant it lies. */
import { systemScope, type TenantScope, tenantScope } from '../../../platform/storage/index.ts';
import type { MemoryStorage } from '../tables.ts';

export interface FilePin {
  readonly scope: TenantScope;
  readonly file: string;
  readonly sha256: string;
}

/** Another node may have changed it. */
const MAX_AGE_MS = 10_000;

export class FilePins {
  readonly #storage: MemoryStorage;
  readonly #now: () => number;
  #known: { readonly pin: FilePin | undefined; readonly at: number } | undefined;

  constructor(storage: MemoryStorage, now: () => number) {
    this.#storage = storage;
    this.#now = now;
  }

  async find(): Promise<FilePin | undefined> {
    const row = await this.#storage.read(systemScope(), (db) => db.selectFrom('memory_pins').selectAll().executeTakeFirst());
    const pin = row && { scope: tenantScope(row.tenant), file: row.file, sha256: row.sha256 };
    this.#known = { pin, at: this.#now() };
    return pin;
  }

  /** The same as it was a moment ago: each search asks. */
  async lately(): Promise<FilePin | undefined> {
    return this.#known !== undefined && this.#now() - this.#known.at < MAX_AGE_MS ? this.#known.pin : await this.find();
  }

  async isPinned({ tenant }: TenantScope, file: string): Promise<boolean> {
    const pin = await this.find();
    return pin !== undefined && pin.scope.tenant === tenant && pin.file === file;
  }

  /** It takes the place of the one before. */
  async set({ scope: { tenant }, file, sha256 }: FilePin): Promise<void> {
    await this.#storage.writeUnit(systemScope(), (db) => [
      db.deleteFrom('memory_pins'),
      db.insertInto('memory_pins').values({ tenant, file, sha256, pinned_at: this.#now() }),
    ]);
    this.#known = undefined;
  }

  async remove(): Promise<void> {
    await this.#storage.writeUnit(systemScope(), (db) => [db.deleteFrom('memory_pins')]);
    this.#known = undefined;
  }
}

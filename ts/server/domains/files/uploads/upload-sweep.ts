/** Removes uploads that expired and files that belong to none, completes streams that a crash left whole, and removes blobs that nothing needs. */
import type { Log } from '../../../platform/log/log.ts';
import { Repeater } from '../../../platform/repeater.ts';
import { systemScope, type TenantScope, tenantScope } from '../../../platform/storage/index.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { Uploader } from '../uploader.ts';
import type { UploadSweepStore } from './store/upload-sweep-store.ts';
import type { UploadFiles } from './upload-files.ts';
import type { UploadService } from './upload-service.ts';

const INTERVAL_MS = 10 * 60_000;
const STEP = 200;
/** A blob is stored a moment before the document that needs it. */
const UNUSED_BLOB_MS = 3_600_000;

/** Of the given hashes, those that a module needs for the tenant. */
export type UsedBlobs = (scope: TenantScope, hashes: readonly string[]) => Promise<ReadonlySet<string>>;

interface UploadSweepOptions {
  store: UploadSweepStore;
  service: UploadService;
  files: UploadFiles;
  blobs: BlobStore;
  usedByFiles: UsedBlobs;
  now: () => number;
  log: Log;
}

export class UploadSweep {
  readonly #options: UploadSweepOptions;
  readonly #users: UsedBlobs[] = [];
  readonly #repeater: Repeater;

  constructor(options: UploadSweepOptions) {
    this.#options = options;
    this.#repeater = new Repeater({
      intervalMs: INTERVAL_MS,
      run: () => this.run(),
      onError: (error) => options.log.warn('uploads could not be swept', { error: String(error) }),
    });
  }

  /** Before one is named, no blob is removed. */
  addBlobUser(used: UsedBlobs): void {
    this.#users.push(used);
  }

  start(): void {
    this.#repeater.start();
  }

  /** Resolves when a run that is under way has ended. */
  async stop(): Promise<void> {
    await this.#repeater.stop();
  }

  async run(): Promise<void> {
    await this.#removeExpired();
    await this.#removeOrphans();
    await this.#completeWhole();
    await this.#removeUnusedBlobs();
    const { blobs, now } = this.#options;
    await blobs.removeOrphans(systemScope(), now() - UNUSED_BLOB_MS);
  }

  async #removeExpired(): Promise<void> {
    const { store, files, now, log } = this.#options;
    for (;;) {
      const ids = await store.removeExpired(systemScope(), now());
      for (const id of ids) await files.remove(id);
      if (ids.length === 0) return;
      log.info('uploads that expired were removed', { uploads: ids.length });
    }
  }

  /** A crash may come between the removal of a row and that of its file. */
  async #removeOrphans(): Promise<void> {
    const { store, files } = this.#options;
    const ids = await files.list();
    for (let i = 0; i < ids.length; i += STEP) {
      const some = ids.slice(i, i + STEP);
      const known = await store.findKnown(systemScope(), some);
      for (const id of some) if (!known.has(id)) await files.remove(id);
    }
  }

  async #completeWhole(): Promise<void> {
    const { store, service, log } = this.#options;
    for (const { id, tenant, subject } of await store.listWhole(systemScope())) {
      const uploader: Uploader = { ...tenantScope(tenant), subject };
      // A file that is refused stays until it expires; its client hears why when it asks.
      await service
        .complete(uploader, id)
        .catch((error: unknown) => log.debug('an upload could not be completed', { upload: id, error: String(error) }));
    }
  }

  /** Removes those of the blobs that nothing needs. One that was stored since `storedBeforeMs` stays. */
  async release(tenant: string, hashes: readonly string[], storedBeforeMs: number): Promise<void> {
    const { store, blobs, usedByFiles } = this.#options;
    if (this.#users.length === 0 || hashes.length === 0) return;
    const scope = tenantScope(tenant);
    // Uploads first: one that ends in between has its document by the time that those are asked for.
    const open = await store.listOpenHashes(scope, hashes);
    const kept = await Promise.all([usedByFiles, ...this.#users].map((used) => used(scope, hashes)));
    const isNeeded = (sha256: string) => open.has(sha256) || kept.some((some) => some.has(sha256));
    for (const sha256 of hashes) if (!isNeeded(sha256)) await blobs.remove(scope, sha256, storedBeforeMs);
  }

  /** Removes the tenant's uploads and blobs, whatever needs them. */
  async eraseTenant(scope: TenantScope): Promise<void> {
    const { store, files, blobs } = this.#options;
    for (let ids = await store.removeSome(scope); ids.length > 0; ids = await store.removeSome(scope))
      for (const id of ids) await files.remove(id);
    for (let some = await blobs.listOf(scope, STEP); some.length > 0; some = await blobs.listOf(scope, STEP))
      for (const sha256 of some) await blobs.remove(scope, sha256);
  }

  async #removeUnusedBlobs(): Promise<void> {
    const { blobs, now } = this.#options;
    if (this.#users.length === 0) return;
    const before = now() - UNUSED_BLOB_MS;
    for (let after = 0; ; ) {
      const old = await blobs.listStored(systemScope(), { afterMs: after, beforeMs: before, limit: STEP });
      for (const [tenant, group] of Map.groupBy(old, (blob) => blob.tenant)) {
        const hashes = group.map(({ sha256 }) => sha256);
        await this.release(tenant, hashes, before);
      }
      const last = old.at(-1);
      if (last === undefined || old.length < STEP) return;
      after = last.storedAtMs;
    }
  }
}

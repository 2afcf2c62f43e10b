/** Removes what was deleted and what was never finished, while the module runs. */
import type { Jobs } from '../../platform/jobs/index.ts';
import { hasEnded, JobError } from '../../platform/jobs/index.ts';
import type { Log } from '../../platform/log/log.ts';
import { Repeater } from '../../platform/repeater.ts';
import { type Storage, type SystemScope, systemScope, type TenantScope, tenantScope } from '../../platform/storage/index.ts';
import type { FileStore } from '../files/index.ts';
import type { KnowledgeBase } from './knowledge-base.ts';
import { AttachedStore, CANCELLED_FAILURE, LOST_FAILURE } from './store/attached-store.ts';
import { OwnedBaseStore } from './store/owned-base-store.ts';
import { SweepStore, type UnfinishedDocument } from './store/sweep-store.ts';

const INTERVAL_MS = 10 * 60_000;
/** A request that adds a document has given it a job, or failed, long before. */
const UNFINISHED_MS = 10 * 60_000;
/** Nodes that look away for longer read a base anew. */
const TOMBSTONE_MS = 60 * 60_000;

interface SweepOptions {
  readonly storage: Storage;
  readonly files: Pick<FileStore, 'listExpired'>;
  readonly jobs: Jobs;
  readonly log: Log;
  /** Files of these hashes may be needed no more. */
  onErased(tenant: string, hashes: readonly string[]): Promise<void>;
  /** A base that expired, with its index. It may be gone. */
  removeBase(scope: TenantScope, namespace: string): Promise<unknown>;
  /** A base of a conversation or an account that is erased. */
  removeOwned(scope: TenantScope, base: KnowledgeBase): Promise<unknown>;
  /** A stored file that expired. */
  removeFile(scope: TenantScope, id: string, sha256: string): Promise<void>;
}

export class Sweep {
  readonly #store: SweepStore;
  readonly #attached: AttachedStore;
  readonly #files: Pick<FileStore, 'listExpired'>;
  readonly #jobs: Jobs;
  readonly #onErased: SweepOptions['onErased'];
  readonly #removeBase: SweepOptions['removeBase'];
  readonly #removeOwned: SweepOptions['removeOwned'];
  readonly #removeFile: SweepOptions['removeFile'];
  readonly #ownedBases: OwnedBaseStore;
  readonly #repeater: Repeater;

  constructor({ storage, files, jobs, log, onErased, removeBase, removeOwned, removeFile }: SweepOptions) {
    this.#onErased = onErased;
    this.#removeBase = removeBase;
    this.#removeOwned = removeOwned;
    this.#removeFile = removeFile;
    this.#ownedBases = new OwnedBaseStore(storage);
    this.#store = new SweepStore(storage);
    this.#attached = new AttachedStore(storage);
    this.#files = files;
    this.#jobs = jobs;
    this.#repeater = new Repeater({
      intervalMs: INTERVAL_MS,
      run: () => this.run(),
      onError: (error) => log.warn('deleted documents could not be removed; it is tried again later', { error: String(error) }),
    });
  }

  start(): void {
    this.#repeater.start();
  }

  /** What was just deleted need not wait. */
  wake(): void {
    this.#repeater.wake();
  }

  async stop(): Promise<void> {
    await this.#repeater.stop();
  }

  /** Files of conversations that are erased: nobody finds them from now on. */
  async eraseConversations(keys: readonly string[]): Promise<void> {
    for (const { tenant, base } of await this.#ownedBases.listByKeys(systemScope(), keys))
      await this.#removeOwned(tenantScope(tenant), base);
    this.wake();
  }

  /** Files of all conversations of somebody, named as uploads name who sends. On return their rows are gone. */
  async eraseOwner(everyone: SystemScope, subject: string): Promise<void> {
    for (const { tenant, base } of await this.#ownedBases.listOf(everyone, subject))
      await this.#removeOwned(tenantScope(tenant), base);
    await this.run();
  }

  /** Of the given hashes, those that documents of the tenant have. */
  async usedBlobs(scope: TenantScope, hashes: readonly string[]): Promise<Set<string>> {
    return await this.#store.listUsedHashes(scope, hashes);
  }

  /** Whether there is a document of whomever. */
  async holdsAny(): Promise<boolean> {
    return await this.#store.holdsAny(systemScope());
  }

  /** Throws StorageError. */
  async run(now = Date.now()): Promise<void> {
    await this.#giveUpUnfinished(now - UNFINISHED_MS);
    await this.#removeExpired(now);
    await this.#store.sweep(systemScope(), now - TOMBSTONE_MS, this.#onErased);
  }

  /** Documents that wait for no job any more. */
  async #giveUpUnfinished(before: number): Promise<void> {
    const everyone = systemScope();
    for (let after = 0; ; ) {
      const page = await this.#store.listPending(everyone, before, after);
      const last = page.at(-1);
      if (last === undefined) return;
      const abandoned: number[] = [];
      for (const document of page) {
        const state = await this.#jobState(document);
        if (state === 'open') continue;
        const failure = state === 'cancelled' ? CANCELLED_FAILURE : LOST_FAILURE;
        if (!(await this.#attached.fail(everyone, document.id, failure))) abandoned.push(document.no);
      }
      await this.#store.abandon(everyone, abandoned);
      after = last.no;
    }
  }

  async #jobState({ tenant, jobId }: UnfinishedDocument): Promise<'open' | 'cancelled' | 'gone'> {
    if (jobId === undefined) return 'gone';
    try {
      const job = await this.#jobs.get(tenantScope(tenant), jobId);
      if (!hasEnded(job)) return 'open';
      return job.state === 'cancelled' ? 'cancelled' : 'gone';
    } catch (error) {
      if (error instanceof JobError && error.code === 'job_not_found') return 'gone';
      throw error;
    }
  }

  /** Bases that nobody used for as many days as they have, and files whose time is over. */
  async #removeExpired(now: number): Promise<void> {
    for (const { tenant, namespace } of await this.#store.listExpiredBases(systemScope(), now))
      await this.#removeBase(tenantScope(tenant), namespace);
    for (const { tenant, id, sha256 } of await this.#files.listExpired(systemScope(), now))
      await this.#removeFile(tenantScope(tenant), id, sha256);
  }
}

export async function holdsDocuments(storage: Storage): Promise<boolean> {
  return await new SweepStore(storage).holdsAny(systemScope());
}

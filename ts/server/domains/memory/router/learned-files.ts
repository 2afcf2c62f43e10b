/** Memory files that hold what was learned of a tenant's routes. A thread learns, reads and writes. */
import { lstat } from 'node:fs/promises';
import type { LearnedKinds, RouteTask } from '../../../../workers/route-model.ts';
import { DomainError } from '../../../platform/errors/domain-error.ts';
import { JobFailedError } from '../../../platform/jobs/index.ts';
import type { Log } from '../../../platform/log/log.ts';
import { defineTask } from '../../../platform/pool/task-spec.ts';
import { WorkerPool } from '../../../platform/pool/worker-pool.ts';
import type { TenantScope } from '../../../platform/storage/index.ts';
import type { FilePins } from '../files/file-pins.ts';
import type { MemoryFiles } from '../files/memory-files.ts';
import type { LearnedRouting, RoutedConversation } from './route-network.ts';

const task = defineTask<typeof import('../../../../workers/route-model.ts').run>(
  'route-model',
  new URL('../../../../workers/route-model.ts', import.meta.url),
);

/** The memory file of a tenant in which it lies. */
const ROUTER_FILE = 'router.exmm';
const LEARN_SECONDS = 60;
/** Two splits are learned from. */
const LIMIT_MS = { learn: 3 * LEARN_SECONDS * 1000, write: 60_000, read: 30_000 };
const MAX_MEMORY_MB = 512;
const SEED = 1;

interface Known {
  /** Changes with the file. */
  readonly stamp: string;
  readonly learned: Promise<LearnedKinds>;
}

interface LearnedFilesOptions {
  readonly files: Pick<MemoryFiles, 'find' | 'place' | 'alone' | 'requireUnpinned'>;
  readonly pins: Pick<FilePins, 'lately'>;
  readonly log: Log;
}

/** It was learned, and lies in this file. */
interface FoundRoutes {
  readonly learned: LearnedKinds;
  readonly source: 'tenant' | 'pinned';
  readonly file: string;
}

const MOST_KNOWN = 1_000;

export class LearnedFiles {
  readonly #options: LearnedFilesOptions;
  /** Their keys are the paths of the files. */
  readonly #known = new Map<string, Known>();
  #pool: WorkerPool | undefined;

  constructor(options: LearnedFilesOptions) {
    this.#options = options;
  }

  /**
   * Finds the tenant's own, or that of the file which is pinned for everybody. Undefined: there is neither. A file is read again when it has changed; one that is
   * damaged teaches nothing.
   */
  async find(scope: TenantScope): Promise<FoundRoutes | undefined> {
    const own = await this.#learnedIn(scope, ROUTER_FILE);
    if (own !== undefined && Object.keys(own).length > 0) return { learned: own, source: 'tenant', file: ROUTER_FILE };
    const pin = await this.#options.pins.lately();
    const pinned = pin && (await this.#learnedIn(pin.scope, pin.file));
    if (pin === undefined || pinned === undefined || Object.keys(pinned).length === 0)
      return own && { learned: own, source: 'tenant', file: ROUTER_FILE };
    return { learned: pinned, source: 'pinned', file: pin.file };
  }

  /** Undefined: too little is known to learn from. */
  async learn(conversations: readonly RoutedConversation[], signal: AbortSignal): Promise<LearnedRouting | undefined> {
    const reply = await this.#run(
      { kind: 'learn', conversations, seed: SEED, maxSeconds: LEARN_SECONDS },
      LIMIT_MS.learn,
      signal,
    );
    return reply.kind === 'learned' ? reply.routing : undefined;
  }

  /** Other sections of the file stay. */
  async write(scope: TenantScope, learned: LearnedKinds, created: number, signal: AbortSignal): Promise<void> {
    const { files } = this.#options;
    try {
      await files.requireUnpinned(scope, ROUTER_FILE);
      const path = await files.place(scope, ROUTER_FILE);
      const reply = await files.alone(path, () => this.#run({ kind: 'write', path, learned, created }, LIMIT_MS.write, signal));
      if (reply.kind === 'fault')
        throw new JobFailedError(
          'memory_file_invalid',
          `The file ${ROUTER_FILE} is kept as it is: ${reply.detail}.`,
          'Remove the file, and have it learned again.',
        );
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      throw new JobFailedError(error.code, error.message, 'Unpin the file, or remove others.', error);
    }
  }

  async stop(): Promise<void> {
    await this.#pool?.close(0);
    this.#pool = undefined;
  }

  /** Undefined: there is no such file. */
  async #learnedIn(scope: TenantScope, file: string): Promise<LearnedKinds | undefined> {
    const path = await this.#options.files.find(scope, file).catch(() => undefined);
    const facts = path === undefined ? undefined : await lstat(path).catch(() => undefined);
    if (path === undefined || facts === undefined) return undefined;
    const stamp = `${facts.ino} ${facts.mtimeMs} ${facts.size}`;
    const known = this.#known.get(path);
    if (known?.stamp === stamp) return await known.learned;
    const learned = this.#read(path);
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    this.#known.set(path, { stamp, learned });
    return await learned;
  }

  /** Never rejects: a chat is answered by the rule. */
  async #read(path: string): Promise<LearnedKinds> {
    try {
      const reply = await this.#run({ kind: 'read', path }, LIMIT_MS.read, AbortSignal.timeout(LIMIT_MS.read));
      if (reply.kind === 'read') return reply.learned;
      if (reply.kind === 'fault') throw new Error(reply.detail);
    } catch (error) {
      this.#options.log.warn('what was learned of routes cannot be read', { error: String(error) });
    }
    return {};
  }

  async #run(input: RouteTask, timeoutMs: number, signal: AbortSignal) {
    this.#pool ??= new WorkerPool({ nThreads: 1, maxMemoryMb: MAX_MEMORY_MB, maxQueue: 32 });
    return await this.#pool.run(task, input, { timeoutMs, signal, priority: input.kind === 'learn' ? 'low' : 'normal' });
  }
}

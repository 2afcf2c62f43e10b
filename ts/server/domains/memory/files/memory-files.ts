/** Memory files of a tenant: named, listed, written by one at a time, exported into and consolidated as jobs. A thread reads and writes them. */
import { lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import Type, { type Static } from 'typebox';
import type { ListedFile, MemoryFileReply, MemoryFileTask } from '../../../../workers/memory-file.ts';
import { DomainError } from '../../../platform/errors/domain-error.ts';
import { hasRole, type Principal, scopeOf } from '../../../platform/http/principal.ts';
import { type Job, type JobContext, JobFailedError, type JobQueue, type Jobs } from '../../../platform/jobs/index.ts';
import type { Held } from '../../../platform/module/belongings.ts';
import { PoolError } from '../../../platform/pool/pool-error.ts';
import { defineTask } from '../../../platform/pool/task-spec.ts';
import { WorkerPool } from '../../../platform/pool/worker-pool.ts';
import type { TenantScope } from '../../../platform/storage/index.ts';
import { memoryError, memoryErrors } from '../errors.ts';
import { accountOf, accountOwner, type MemoryKind, ownerOf, readerOf, TENANT } from '../memory.ts';
import type { FileSection, SectionKind } from './directory.ts';
import type { FilePins } from './file-pins.ts';
import { OWNED_KINDS, ownerOfSection } from './filed-memories.ts';
import type { SectionData } from './memory-file.ts';

const task = defineTask<typeof import('../../../../workers/memory-file.ts').run>(
  'memory-file',
  new URL('../../../../workers/memory-file.ts', import.meta.url),
);

type ReplyOf<K extends MemoryFileReply['kind']> = Extract<MemoryFileReply, { kind: K }>;

/** Makes sections of an owner's memories of these kinds. */
export type ExportSections = (
  scope: TenantScope,
  owner: string,
  kinds: readonly MemoryKind[],
) => Promise<{ readonly sections: readonly SectionData[]; readonly nMemories: number }>;

interface MemoryFilesOptions {
  readonly jobs: Jobs;
  readonly pins: Pick<FilePins, 'isPinned'>;
  readonly exportSections: ExportSections;
  /** Throws where the caller may not change what is the whole tenant's. */
  readonly requireTenantWriter: (caller: Principal) => void;
  /** Memory files of all tenants lie in it. */
  readonly folder: string;
  readonly now: () => number;
}

/** Other names answer as those of files that are not there. */
const FILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,79}\.exmm$/;
/** A file, the one from before it was consolidated, or what was written of either. */
const FILE_OR_BESIDE = /^(.+?\.exmm)(?:\.pre-consolidate\.bak)?(?:\.\d+\.tmp)?$/;
const ExportInput = Type.Object({ file: Type.String(), owner: Type.String(), kinds: Type.Array(Type.String()) });
const ConsolidateInput = Type.Object({ file: Type.String(), with: Type.Array(Type.String()) });
const MAX_MEMORY_MB = 1_536;
const MOST_WAITING = 64;
const LIMIT_MS = 120_000;
/** A folder of more files takes no new one. */
const MOST_FILES = 500;

export class MemoryFiles {
  readonly #options: MemoryFilesOptions;
  readonly #exports: JobQueue<Static<typeof ExportInput>>;
  readonly #consolidations: JobQueue<Static<typeof ConsolidateInput>>;
  /** The last of those who write each path, which the next one waits for. */
  readonly #writers = new Map<string, Promise<void>>();
  #pool: WorkerPool | undefined;

  constructor(options: MemoryFilesOptions) {
    this.#options = options;
    // The files lie on this node alone.
    const shared = { concurrency: 1, isOfNode: true } as const;
    this.#exports = options.jobs.define({
      name: 'memory.export',
      input: ExportInput,
      ...shared,
      run: (job) => this.#finally(() => this.#export(job)),
    });
    this.#consolidations = options.jobs.define({
      name: 'memory.consolidate',
      input: ConsolidateInput,
      ...shared,
      run: (job) => this.#finally(() => this.#consolidate(job)),
    });
  }

  /** Removes what a process that was killed had not yet given its name. */
  async start(): Promise<void> {
    for (const tenant of await namesIn(this.#options.folder))
      for (const name of await namesIn(join(this.#options.folder, tenant)))
        if (name.endsWith('.tmp')) await rm(join(this.#options.folder, tenant, name), { force: true });
    this.#exports.start();
    this.#consolidations.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#exports.stop(), this.#consolidations.stop()]);
    await this.#pool?.close(0);
    this.#pool = undefined;
  }

  /** Files in which the caller reaches something. */
  async list(caller: Principal, signal: AbortSignal): Promise<readonly ListedFile[]> {
    const { owners, tenant } = readerOf(caller);
    return (await this.#run({ kind: 'list', folder: this.#folderOf({ tenant }), owners }, 'files', signal)).files;
  }

  /** Those that the caller reaches. Throws `memory_file_not_found` and `memory_file_invalid`. */
  async sections(caller: Principal, file: string, signal: AbortSignal): Promise<readonly FileSection[]> {
    const path = await this.find(scopeOf(caller), file);
    const { sections, nHidden } = await this.#run(
      { kind: 'sections', path, owners: readerOf(caller).owners },
      'sections',
      signal,
    );
    if (sections.length === 0 && nHidden > 0) throw fileNotFound(file);
    return sections;
  }

  /** Reads what the owners have in it. Throws `memory_file_not_found` and `memory_file_invalid`. */
  async read(scope: TenantScope, file: string, owners: readonly string[], signal: AbortSignal): Promise<ReplyOf<'parts'>> {
    const read = await this.#run({ kind: 'read', path: await this.find(scope, file), owners }, 'parts', signal);
    if (read.sections.length === 0 && read.nHidden > 0) throw fileNotFound(file);
    return read;
  }

  async digest(scope: TenantScope, file: string, signal: AbortSignal): Promise<string> {
    return (await this.#run({ kind: 'digest', path: await this.find(scope, file) }, 'digest', signal)).sha256;
  }

  /** Throws `memory_section_not_found`, `memory_file_pinned`, `tenant_memory_denied` and what sections() throws. */
  async remove(caller: Principal, file: string, wanted: { kind: SectionKind; name: string }, signal: AbortSignal): Promise<void> {
    const section = (await this.sections(caller, file, signal)).find(
      ({ kind, name }) => kind === wanted.kind && name === wanted.name,
    );
    if (section === undefined)
      throw memoryError('memory_section_not_found', `The file ${file} has no such section.`, { param: 'section' });
    const owner = ownerOfSection(section);
    if (owner === undefined) requireDeveloper(caller);
    if (owner === TENANT) this.#options.requireTenantWriter(caller);
    await this.requireUnpinned(scopeOf(caller), file);
    const path = await this.find(scopeOf(caller), file);
    const { kind, name } = section;
    await this.alone(path, () =>
      this.#run({ kind: 'remove', path, section: { kind, name }, created: this.#now() }, 'done', signal),
    );
  }

  /** Throws `invalid_request`, `memory_file_pinned` and `tenant_memory_denied`. */
  async beginExport(
    caller: Principal,
    { file, kinds, isOfTenant }: { file: string; kinds: readonly MemoryKind[]; isOfTenant: boolean },
  ): Promise<Job> {
    requireName(file);
    if (isOfTenant) this.#options.requireTenantWriter(caller);
    await this.requireUnpinned(scopeOf(caller), file);
    const input = { file, owner: isOfTenant ? TENANT : ownerOf(caller), kinds: [...kinds] };
    return await this.#exports.enqueue(scopeOf(caller), input, askedBy(caller));
  }

  /** Throws `memory_file_not_found`, `memory_file_invalid` and `memory_file_pinned`. */
  async beginConsolidation(caller: Principal, file: string, others: readonly string[], signal: AbortSignal): Promise<Job> {
    for (const each of [file, ...others]) await this.sections(caller, each, signal);
    await this.requireUnpinned(scopeOf(caller), file);
    const from = [...new Set(others)].filter((other) => other !== file);
    return await this.#consolidations.enqueue(scopeOf(caller), { file, with: from }, askedBy(caller));
  }

  /** Names of files that still hold one of these memories of the owner; undefined: the files could not be read now. */
  async holders({ tenant }: TenantScope, owner: string, ids: readonly string[], signal: AbortSignal) {
    const folder = this.#folderOf({ tenant });
    if (ids.length === 0 || (await namesIn(folder)).length === 0) return [];
    try {
      return (await this.#run({ kind: 'holders', folder, owner, ids }, 'holders', signal)).files;
    } catch (error) {
      if (error instanceof DomainError) return undefined;
      throw error;
    }
  }

  /** Removes the files of a tenant that is deleted. */
  async eraseTenant(scope: TenantScope): Promise<void> {
    await rm(this.#folderOf(scope), { recursive: true, force: true });
  }

  /** Removes what is the account's from all files of the node, from those beside them too, whole or damaged. */
  async eraseAccount(accountId: string): Promise<void> {
    const owner = accountOwner(accountId);
    for (const tenant of await namesIn(this.#options.folder)) {
      const folder = join(this.#options.folder, tenant);
      const names = await namesIn(folder);
      for (const file of new Set(names.flatMap((name) => FILE_OR_BESIDE.exec(name)?.[1] ?? [])))
        await this.alone(join(folder, file), async () => {
          // Nobody writes the file now, so these were left by a thread that was ended.
          for (const name of await namesIn(folder))
            if (FILE_OR_BESIDE.exec(name)?.[1] === file && name.endsWith('.tmp')) await rm(join(folder, name), { force: true });
          await this.#ask({ kind: 'erase', path: join(folder, file), owner, created: this.#now() });
        });
    }
  }

  /** Tenants have a folder here, and accounts a section in a file that is whole. */
  async held(): Promise<Held> {
    const tenants = await namesIn(this.#options.folder);
    const accounts = new Set<string>();
    for (const tenant of tenants) {
      const reply = await this.#ask({ kind: 'owners', folder: this.#folderOf({ tenant }) });
      for (const owner of reply.kind === 'owners' ? reply.owners : []) accounts.add(accountOf(owner) ?? '');
    }
    accounts.delete('');
    return { tenants, accounts: [...accounts] };
  }

  async holdsAny(scope: TenantScope): Promise<boolean> {
    return (await namesIn(this.#folderOf(scope))).length > 0;
  }

  /** The path of a file that may not be there yet. Throws `invalid_request` for a name that none has. */
  async place(scope: TenantScope, file: string): Promise<string> {
    requireName(file);
    const folder = this.#folderOf(scope);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const names = await namesIn(folder);
    if (names.length < MOST_FILES || names.includes(file)) return join(folder, file);
    throw memoryError('memory_files_full', `There are ${MOST_FILES} files, and no more are made.`);
  }

  /** The path of a file of the tenant. Throws `memory_file_not_found` for whatever is none: another name, a link, a folder. */
  async find(scope: TenantScope, file: string): Promise<string> {
    const path = join(this.#folderOf(scope), file);
    if (FILE_NAME.test(file) && (await isFile(path))) return path;
    throw fileNotFound(file);
  }

  async requireUnpinned(scope: TenantScope, file: string): Promise<void> {
    if (await this.#options.pins.isPinned(scope, file))
      throw memoryError('memory_file_pinned', `The file ${file} is pinned as master memory.`, { param: 'file' });
  }

  /** Runs when nobody else writes the path: what is read of it there is still so when it is written. */
  async alone<T>(path: string, write: () => Promise<T>): Promise<T> {
    const before = this.#writers.get(path);
    const done = Promise.withResolvers<void>();
    this.#writers.set(path, done.promise);
    try {
      await before;
      return await write();
    } finally {
      done.resolve();
      if (this.#writers.get(path) === done.promise) this.#writers.delete(path);
    }
  }

  async #export({ scope, input, signal }: JobContext<Static<typeof ExportInput>, unknown>): Promise<object> {
    const { file, owner, kinds } = input;
    const path = await this.place(scope, file);
    return await this.alone(path, async () => {
      await this.requireUnpinned(scope, file);
      const { sections, nMemories } = await this.#options.exportSections(scope, owner, kinds as MemoryKind[]);
      await this.#run({ kind: 'put', path, owner, kinds: OWNED_KINDS, sections, created: this.#now() }, 'done', signal);
      return { file, memories: nMemories };
    });
  }

  /** Puts slots of the owner in the place of those that the file has. For a job: throws as a job fails. */
  async putSlots(scope: TenantScope, file: string, owner: string, bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    await this.#finally(async () => {
      const path = await this.place(scope, file);
      const section = { kind: 'slots', name: owner, bytes } as const;
      await this.alone(path, async () => {
        await this.requireUnpinned(scope, file);
        const kinds: SectionKind[] = ['slots'];
        await this.#run({ kind: 'put', path, owner, kinds, sections: [section], created: this.#now() }, 'done', signal);
      });
    });
  }

  async #consolidate({ scope, input, signal }: JobContext<Static<typeof ConsolidateInput>, unknown>): Promise<object> {
    const { file } = input;
    const path = await this.find(scope, file);
    const from = await Promise.all(input.with.map((other) => this.find(scope, other)));
    return await this.alone(path, async () => {
      await this.requireUnpinned(scope, file);
      await this.#run({ kind: 'consolidate', path, from, created: this.#now() }, 'done', signal);
      return { file, backup: `${file}.pre-consolidate.bak` };
    });
  }

  /** A job that is refused would be refused again, unless the threads are busy. */
  async #finally<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof DomainError) || error.code === 'memory_files_busy' || !memoryErrors.hasCode(error.code)) throw error;
      throw new JobFailedError(error.code, error.message, memoryErrors.rows[error.code][2], error);
    }
  }

  #now(): number {
    return this.#options.now();
  }

  #folderOf({ tenant }: Pick<TenantScope, 'tenant'>): string {
    return join(this.#options.folder, tenant);
  }

  async #run<K extends MemoryFileReply['kind']>(input: MemoryFileTask, kind: K, signal: AbortSignal): Promise<ReplyOf<K>> {
    const reply = await this.#ask(input, signal);
    if (reply.kind === 'fault') throw memoryError('memory_file_invalid', `The file is left as it is: ${reply.detail}.`);
    if (reply.kind !== kind) throw new Error('the thread answered something else');
    return reply as ReplyOf<K>;
  }

  async #ask(input: MemoryFileTask, signal?: AbortSignal): Promise<MemoryFileReply> {
    this.#pool ??= new WorkerPool({ nThreads: 1, maxMemoryMb: MAX_MEMORY_MB, maxQueue: MOST_WAITING });
    try {
      return await this.#pool.run(task, input, { timeoutMs: LIMIT_MS, signal });
    } catch (error) {
      if (!(error instanceof PoolError)) throw error;
      if (error.code === 'pool_full' || error.code === 'pool_closed') throw memoryError('memory_files_busy', error.message);
      throw memoryError('memory_file_invalid', `The file could not be read within its limits: ${error.message}`);
    }
  }
}

function requireName(file: string): void {
  if (FILE_NAME.test(file)) return;
  throw memoryError('invalid_request', 'A memory file is called NAME.exmm, of letters, digits, dots and dashes.', {
    param: 'file',
  });
}

function requireDeveloper(caller: Principal): void {
  if (caller.kind === 'anonymous' || hasRole(caller, 'developer')) return;
  throw memoryError('tenant_memory_denied', 'Learned sections are removed by developers.', { extra: { role: 'developer' } });
}

function askedBy({ subject }: Principal): { owner?: string } {
  return subject === undefined ? {} : { owner: subject };
}

function fileNotFound(file: string) {
  return memoryError('memory_file_not_found', `There is no memory file ${file}.`, { param: 'file' });
}

/** Names of what lies in the folder; none where it is not there. */
async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}

async function isFile(path: string): Promise<boolean> {
  return await lstat(path).then(
    (facts) => facts.isFile(),
    () => false,
  );
}

/** The section as its caller names it: `me` stands for what is their own. */
export function sectionId(caller: Principal, { kind, name }: Pick<FileSection, 'kind' | 'name'>): string {
  const own = ownerOf(caller);
  return `${kind}:${OWNED_KINDS.includes(kind) && (name === own || name.startsWith(`${own}#`)) ? `me${name.slice(own.length)}` : name}`;
}

/**
 * This node as the standby of a primary on SQLite: it takes snapshots, knows how far behind it is, and takes the primary's place when an operator says so.
 * `data_dir/replica` has the chunks, the newest snapshot laid out, and `state.json`.
 */
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomically } from '../../../platform/files/atomic-file.ts';
import type { Log } from '../../../platform/log/log.ts';
import { Repeater } from '../../../platform/repeater.ts';
import { clusterErrors } from '../errors.ts';
import type { LinkRequest } from '../link/link-listener.ts';
import { answerReplica, type ReplicaCall } from './peer-files.ts';
import type { Replication } from './replication.ts';

export interface ReplicaState {
  /** The snapshot's id. */
  readonly id: string;
  /** The number of its last commit. */
  readonly commit: number;
  /** Unix milliseconds: when the primary began the snapshot, by the clock of this node. It has all that was committed before. */
  readonly syncedAt: number;
  /** The last commit of the primary that this node has heard of. */
  readonly primaryCommit: number;
  /** The roles of the primary. */
  readonly roles: readonly string[];
}

interface StandbyParts {
  readonly dataDir: string;
  readonly log: Log;
  readonly replication: Replication;
  /** Ends the process, which starts again as what it is then. */
  restart(reason: string): void;
}

/** A node that was promoted finds this at its next start. */
export const PROMOTED_FILE = join('cluster', 'promoted.json');
export const MEMBER_FILE = join('cluster', 'member.json');
/** The content of that file where missing commits are given up. */
export const FORCED = 'force';
/** Written by `svc node promote` for a node that runs, and its answer. */
export const ASKED_FILE = join('cluster', 'promote.json');
export const ANSWER_FILE = join('cluster', 'promote-answer.json');
export const REPLICA_FOLDER = 'replica';
/** The last news is kept so often: after a kill, it is at most so old. */
const KEEP_MS = 2_000;
const LOOK_MS = 500;
const NODE_FILE = 'node.json';

export class Standby {
  readonly #parts: StandbyParts;
  readonly #folder: string;
  #state: ReplicaState | undefined;
  #heard = 0;
  #keptAt = Number.NEGATIVE_INFINITY;
  /** The last commit of the primary that the file names. */
  #kept = 0;
  #keeping: Promise<unknown> = Promise.resolve();
  #isDecided = false;
  #laying: Promise<unknown> = Promise.resolve();
  readonly #repeater: Repeater;

  constructor(parts: StandbyParts) {
    this.#parts = parts;
    this.#folder = join(parts.dataDir, REPLICA_FOLDER);
    this.#repeater = new Repeater({
      intervalMs: LOOK_MS,
      run: () => this.#look(),
      onError: (error) => parts.log.warn('what was asked of this standby was not done', { error: String(error) }),
    });
  }

  /** Undefined: nothing has come yet. */
  get state(): ReplicaState | undefined {
    return this.#state && { ...this.#state, primaryCommit: Math.max(this.#heard, this.#state.primaryCommit) };
  }

  async start(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    this.#state = await readState(this.#folder);
    this.#repeater.start();
  }

  async stop(): Promise<void> {
    await this.#repeater.stop();
    await this.#laying;
  }

  /** The primary's last commit, as it says. */
  hear(commit: number): void {
    this.#heard = Math.max(this.#heard, commit);
  }

  /** Answers the primary. */
  async answer(request: LinkRequest): Promise<void> {
    await answerReplica(request, this.#parts.replication.open(this.#folder), (call) => this.#carryOut(call));
  }

  /** Throws `replica_behind` with both numbers, `not_a_standby` where nothing has come yet. */
  async promote(isForced: boolean): Promise<{ commit: number }> {
    const { dataDir, replication, log, restart } = this.#parts;
    await this.#laying;
    const { state } = this;
    const { commit } = await promoteReplica(replication, dataDir, state, isForced);
    this.#isDecided = true;
    log.warn('this node takes the place of the primary when it starts again', { commit, primary_commit: state?.primaryCommit });
    restart('this node is the primary from now on');
    return { commit };
  }

  /** `svc node promote` on this machine asks by a file, which whoever may write in the data folder can. */
  async #lookAtFile(): Promise<void> {
    const { dataDir } = this.#parts;
    const asked = await readFile(join(dataDir, ASKED_FILE), 'utf8').catch(() => undefined);
    if (asked === undefined) return;
    await rm(join(dataDir, ASKED_FILE), { force: true });
    const answer = await this.promote(asked === FORCED).catch((error: unknown) => ({
      code: clusterErrors.has(error) ? error.code : 'internal',
      detail: clusterErrors.has(error) ? error.sentence : (error as Error).message,
    }));
    await writeFileAtomically(join(dataDir, ANSWER_FILE), JSON.stringify(answer));
  }

  async #carryOut({ op, id = '', isForced = false, commit = 0, roles = [], ageMs = 0 }: ReplicaCall): Promise<unknown> {
    if (op === 'promote') {
      this.hear(commit);
      return await this.promote(isForced);
    }
    if (this.#isDecided) throw new Error('the node is about to be the primary');
    const begunAt = Date.now() - ageMs;
    const laid = this.#laying.then(() => this.#lay(id, roles, begunAt));
    this.#laying = laid.catch(() => undefined);
    return await laid;
  }

  async #lay(id: string, roles: readonly string[], begunAt: number): Promise<ReplicaState> {
    const { replication } = this.#parts;
    const commit = await replication.lay(this.#folder, id);
    this.#state = { id, commit, syncedAt: begunAt, primaryCommit: Math.max(commit, this.#heard), roles };
    await this.#keep();
    return this.#state;
  }

  async #look(): Promise<void> {
    const { state } = this;
    const isNews = state !== undefined && state.primaryCommit > this.#kept;
    if (isNews && performance.now() - this.#keptAt >= KEEP_MS) await this.#keep();
    await this.#lookAtFile();
  }

  /** One after the other, and each with the newest state. */
  async #keep(): Promise<void> {
    const kept = this.#keeping.then(async () => {
      const { state } = this;
      if (state === undefined) return;
      this.#keptAt = performance.now();
      this.#kept = state.primaryCommit;
      await writeFileAtomically(join(this.#folder, 'state.json'), JSON.stringify(state));
    });
    this.#keeping = kept.catch(() => undefined);
    await kept;
  }
}

/** This node's file, with these roles beside its own. */
async function nodeFileWith(path: string, roles: readonly string[]): Promise<string> {
  const record = JSON.parse(await readFile(path, 'utf8')) as { roles?: string[] };
  return JSON.stringify(record.roles === undefined ? record : { ...record, roles: [...new Set([...record.roles, ...roles])] });
}

/** The state of a standby's data folder; undefined: it has no snapshot. */
export async function readState(folder: string): Promise<ReplicaState | undefined> {
  const text = await readFile(join(folder, 'state.json'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return text === undefined ? undefined : (JSON.parse(text) as ReplicaState);
}

/**
 * Has the snapshot take the place of the data folder's own state at the next start. Throws `replica_behind`, `not_a_standby`.
 */
export async function promoteReplica(
  replication: Replication,
  dataDir: string,
  state: ReplicaState | undefined,
  isForced: boolean,
): Promise<{ commit: number }> {
  if (state === undefined) throw clusterErrors.error('not_a_standby', 'This node has no snapshot of a primary.');
  const { id, commit, primaryCommit, roles } = state;
  if (commit < primaryCommit && !isForced) {
    const sentence = `The standby has the commits up to ${commit}, and the primary said that it had ${primaryCommit}.`;
    throw clusterErrors.error('replica_behind', sentence, { extra: { replica_commit: commit, primary_commit: primaryCommit } });
  }
  await replication.decide(join(dataDir, REPLICA_FOLDER), id, dataDir, {
    write: { [PROMOTED_FILE]: JSON.stringify({ commit }), [NODE_FILE]: await nodeFileWith(join(dataDir, NODE_FILE), roles) },
    remove: [MEMBER_FILE, REPLICA_FOLDER],
  });
  return { commit };
}

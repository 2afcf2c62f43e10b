/** This node as the primary of standbys: on SQLite, each gets a snapshot so often, and when an administrator wants one. */
import type { Log } from '../../../platform/log/log.ts';
import type { HealthReason } from '../../../platform/module/module.ts';
import { Repeater } from '../../../platform/repeater.ts';
import { clusterErrors } from '../errors.ts';
import type { Peer } from '../link/peers.ts';
import type { ReplicaBody } from '../schemas.ts';
import { callReplica, peerFiles } from './peer-files.ts';
import type { Replication } from './replication.ts';
import type { ReplicaState } from './standby.ts';

interface PrimaryParts {
  readonly log: Log;
  readonly replication: Replication;
  readonly syncMs: number;
  /** The number of the last commit. */
  commit(): Promise<number>;
  /** The roles of this node. */
  roles(): readonly string[];
  /** Nodes that joined with a token and have the role data. */
  standbys(): readonly Peer[];
}

const LOOK_MS = 1_000;
/** A standby that could not take a snapshot, as one that still starts, is tried again so soon. */
const RETRY_MS = 5_000;
/** A snapshot may take so much longer than the last one did. */
const EARLIER = 1.25;
/** A standby that is this much older than it should be is told of. */
const MOST_LAG_SECONDS = 120;

interface Sync {
  /** The last attempt began then: `performance.now()`. */
  at: number;
  state: ReplicaState | undefined;
  problem: string | undefined;
  running: Promise<ReplicaState> | undefined;
  /** How long the last one took. */
  tookMs: number;
}

export class Primary {
  readonly #parts: PrimaryParts;
  readonly #repeater: Repeater;
  readonly #syncs = new Map<string, Sync>();
  #stopped = new AbortController();
  /** The last commit, as it was a moment ago. */
  #last = 0;

  constructor(parts: PrimaryParts) {
    this.#parts = parts;
    this.#repeater = new Repeater({
      intervalMs: LOOK_MS,
      run: () => this.#look(),
      onError: (error) => parts.log.warn('the standbys were not looked at', { error: String(error) }),
    });
  }

  start(): void {
    this.#stopped = new AbortController();
    this.#repeater.start();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#repeater.stop();
    await Promise.allSettled([...this.#syncs.values()].map(({ running }) => running));
  }

  async replicas(): Promise<ReplicaBody[]> {
    const commit = await this.#parts.commit();
    return this.#parts.standbys().map((peer) => this.#bodyOf(peer, commit));
  }

  /** The reasons of /health: standbys that are too old. */
  reasons(): HealthReason[] {
    const late = this.#parts.standbys().filter((peer) => this.#bodyOf(peer, this.#last).state === 'behind');
    const detail = `${late.length} of the standbys of this node are more than ${MOST_LAG_SECONDS} s behind it.`;
    return late.length === 0 ? [] : [{ code: 'replica_behind', detail }];
  }

  /** Seconds by the ids of standbys that have a snapshot. */
  lags(): [node: string, seconds: number][] {
    const bodies = this.#parts.standbys().map((peer) => this.#bodyOf(peer, this.#last));
    return bodies.flatMap(({ node, lag_seconds: lag }) => (node === null || lag === null ? [] : [[node, lag]]));
  }

  /** One that is under way already is joined. Throws `node_not_found`, `replica_failed`. */
  async sync(node: string): Promise<ReplicaBody> {
    const peer = this.#find(node);
    await this.#sync(peer);
    return this.#bodyOf(peer, await this.#parts.commit());
  }

  /** Has a standby take this node's place. Throws `node_not_found`, `replica_behind`, `replica_failed`. */
  async promote(node: string, isForced: boolean): Promise<{ commit: number }> {
    const call = { op: 'promote', isForced, commit: await this.#parts.commit() } as const;
    return (await callReplica(this.#find(node), call, this.#stopped.signal)) as { commit: number };
  }

  #find(node: string): Peer {
    const peer = this.#parts.standbys().find(({ facts }) => facts.id === node);
    if (peer !== undefined) return peer;
    throw clusterErrors.error('not_a_standby', `The node ${node} is no standby: one joins with a token for the role data.`);
  }

  async #look(): Promise<void> {
    const { standbys, commit, log } = this.#parts;
    const peers = standbys().filter(({ isAnswering }) => isAnswering);
    if (peers.length === 0) return;
    this.#last = await commit();
    // A standby whose disk hangs keeps no other one from its snapshots.
    for (const peer of peers.filter((each) => this.#isDue(each)))
      void this.#sync(peer).catch((error: unknown) => {
        if (!this.#stopped.signal.aborted)
          log.warn('a standby was not brought up to date', { node: peer.facts.id, error: String(error) });
      });
  }

  #isDue(peer: Peer): boolean {
    const { syncMs } = this.#parts;
    const sync = this.#of(peer);
    // So early that the standby has the next one when the last one is as old as it may be.
    const pauseMs =
      sync.problem === undefined ? Math.max(0, syncMs - EARLIER * sync.tookMs - 2 * LOOK_MS) : Math.min(RETRY_MS, syncMs);
    return sync.running === undefined && performance.now() - sync.at >= pauseMs && stateOf(peer, sync)?.commit !== this.#last;
  }

  async #sync(peer: Peer): Promise<ReplicaState> {
    const sync = this.#of(peer);
    sync.running ??= this.#send(peer, sync).finally(() => {
      sync.running = undefined;
    });
    return await sync.running;
  }

  async #send(peer: Peer, sync: Sync): Promise<ReplicaState> {
    const { replication, log, roles } = this.#parts;
    const { signal } = this.#stopped;
    sync.at = performance.now();
    try {
      const { id, storedBytes } = await replication.push(peerFiles(peer, signal), signal);
      const ageMs = Math.round(performance.now() - sync.at);
      const state = (await callReplica(peer, { op: 'lay', id, roles: roles(), ageMs }, signal)) as ReplicaState;
      sync.tookMs = performance.now() - sync.at;
      sync.state = state;
      sync.problem = undefined;
      const facts = { node: peer.facts.id, commit: state.commit, stored_bytes: storedBytes, took_ms: Math.round(sync.tookMs) };
      log.info('a standby has a new snapshot', facts);
      return state;
    } catch (error) {
      sync.problem = (error as Error).message;
      throw error;
    }
  }

  #of({ facts }: Peer): Sync {
    const known = this.#syncs.get(facts.id);
    if (known !== undefined) return known;
    const made: Sync = { at: Number.NEGATIVE_INFINITY, state: undefined, problem: undefined, running: undefined, tookMs: 0 };
    this.#syncs.set(facts.id, made);
    return made;
  }

  #bodyOf(peer: Peer, last: number): ReplicaBody {
    const { facts, isAnswering } = peer;
    const sync = this.#of(peer);
    const state = stateOf(peer, sync);
    const isCurrent = state?.commit === last;
    const lag = state === undefined ? null : isCurrent ? 0 : Math.max(0, Math.round((Date.now() - state.syncedAt) / 100) / 10);
    return {
      node: facts.id,
      name: facts.name,
      state: isAnswering ? (lag === null || lag > MOST_LAG_SECONDS ? 'behind' : 'ok') : 'unreachable',
      commit: state?.commit ?? null,
      lag_commits: state === undefined ? null : Math.max(0, last - state.commit),
      lag_seconds: lag,
      synced_at: state === undefined ? null : new Date(state.syncedAt).toISOString(),
      problem: sync.problem ?? null,
    };
  }
}

/** The newer one of what it answered last and of what it says when it is asked how it is. */
function stateOf({ said }: Peer, { state }: Sync): ReplicaState | undefined {
  const told = said.replica;
  if (told === undefined || (state !== undefined && state.commit >= told.commit)) return state;
  return told;
}

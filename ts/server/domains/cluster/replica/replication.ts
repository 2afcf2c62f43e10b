/** A standby needs this of backups, as the composition root wires it: this module is of a lower tier than they are. */

/** The files of a replica lie on this machine, or behind the link to another node. */
export interface ReplicaFiles {
  readonly shown: string;
  readonly parallel: number;
  read(path: string, maxBytes: number): Promise<Buffer | undefined>;
  write(path: string, bytes: Uint8Array): Promise<void>;
  renew(path: string): Promise<boolean>;
  list(folder: string): Promise<{ readonly path: string; readonly modifiedAt: number }[]>;
  delete(path: string): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Files of the data folder that a swap writes or takes away. */
interface SwapFacts {
  readonly write: Readonly<Record<string, string>>;
  readonly remove: readonly string[];
}

export interface Replication {
  /** Sends the state of this node, of which only what changed travels. Resolves to the id of the snapshot. */
  push(files: ReplicaFiles, signal: AbortSignal): Promise<{ id: string; storedBytes: number }>;
  open(folder: string): ReplicaFiles;
  /** Proves a snapshot that came whole, and lays it out so that it can take its place by renames. Resolves to the number of its last commit. */
  lay(folder: string, id: string): Promise<number>;
  /** Has what was laid out take the place of this node's state at its next start. */
  decide(folder: string, id: string, dataDir: string, facts: SwapFacts): Promise<void>;
  /** The names in the data folder of what a standby takes over, the database's among them. */
  readonly names: readonly string[];
}

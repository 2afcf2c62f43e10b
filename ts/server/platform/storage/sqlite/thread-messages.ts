/** What the JS thread and the SQLite threads say to each other. Both directions send arrays: one message for all of a turn. */
import type { Statement, StatementResult } from '../statement.ts';

/** A whole transaction whose statements are known. */
export interface UnitRequest {
  readonly kind: 'unit';
  readonly id: number;
  readonly statements: readonly Statement[];
}

/** Opens an interactive transaction. On the writer thread it waits for its place; nothing answers it. */
export interface BeginRequest {
  readonly kind: 'begin';
  readonly transaction: number;
  /** Shares its commit with no other write, and locks out other processes (migrations). */
  readonly exclusive: boolean;
}

export interface StatementRequest {
  readonly kind: 'statement';
  readonly id: number;
  readonly transaction: number;
  readonly statement: Statement;
}

/** Ends an interactive transaction; answered once that is durable. */
export interface EndRequest {
  readonly kind: 'end';
  readonly id: number;
  readonly transaction: number;
  readonly commit: boolean;
}

/** Copies the database into a new file. */
export interface BackupRequest {
  readonly kind: 'backup';
  readonly id: number;
  readonly path: string;
}

/** Closes the connection; the thread ends. */
interface CloseRequest {
  readonly kind: 'close';
}

export type WriterRequest = UnitRequest | BeginRequest | StatementRequest | EndRequest | BackupRequest | CloseRequest;
export type ReaderRequest = BeginRequest | StatementRequest | EndRequest | CloseRequest;

/** An error as it crosses threads; `code` is SQLite's (SQLITE_...) where it has one. */
export interface ThreadError {
  readonly message: string;
  readonly code: string | undefined;
  /** Whether the write may be there after all. */
  readonly outcomeUnknown: boolean;
  /** Whether the connection must not be used any more. */
  readonly fatal: boolean;
}

export interface Reply {
  readonly kind: 'reply';
  readonly id: number;
  readonly results: readonly StatementResult[];
  readonly error?: ThreadError;
}

interface OpenedEvent {
  readonly kind: 'opened';
}

/** The connection could not be opened, or broke while no request waited for it. */
export interface BrokenEvent {
  readonly kind: 'broken';
  readonly error: ThreadError;
}

export interface CommitEvent {
  readonly kind: 'commit';
  readonly units: number;
  readonly durationMs: number;
}

export type ThreadEvent = Reply | OpenedEvent | BrokenEvent | CommitEvent;

export interface ThreadData {
  readonly file: string;
  /** Whether the writer opens the database after an I/O error: it then verifies everything first. */
  readonly recover: boolean;
  /** See ModuleMigrations. */
  readonly transient?: readonly string[];
}

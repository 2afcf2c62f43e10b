/** A memory as the module sees it, and whose it is. */
import { type Principal, scopeOf } from '../../platform/http/principal.ts';
import type { TenantScope } from '../../platform/storage/index.ts';
import type { Collection, PassageKey, PassageScores } from '../retrieval/index.ts';

export const MEMORY_KINDS = ['fact', 'preference', 'episode', 'summary'] as const;
export type MemoryKind = (typeof MEMORY_KINDS)[number];

/** `stated` by a person, `derived` by a dream, `imported` from a file. */
export const TRUSTS = ['stated', 'derived', 'imported'] as const;
export type Trust = (typeof TRUSTS)[number];

export const MEMORY_STATES = ['current', 'superseded', 'archived'] as const;
export type MemoryState = (typeof MEMORY_STATES)[number];

export const ORIGIN_TYPES = ['api', 'conversation', 'import', 'dream'] as const;

/** The place that a memory comes from. */
export interface Origin {
  readonly type: (typeof ORIGIN_TYPES)[number];
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly conversationId?: string;
  readonly messageId?: string;
  /** The place in the message's text, UTF-16 code units. */
  readonly start?: number;
  readonly end?: number;
}

export interface Memory {
  readonly no: number;
  readonly id: string;
  /** As `ownerOf` names one, or TENANT. */
  readonly owner: string;
  readonly kind: MemoryKind;
  readonly text: string;
  readonly subject: string | undefined;
  readonly origins: readonly Origin[];
  readonly trust: Trust;
  readonly validFrom: number;
  /** Undefined: it holds until something else is said. */
  readonly validTo: number | undefined;
  readonly recordedAt: number;
  readonly changedAt: number;
  readonly supersededBy: string | undefined;
  /** Grows by recall, and fades. */
  readonly strength: number;
  readonly recalledAt: number | undefined;
  /** Its strength has faded until then; undefined: it has not. */
  readonly decayedAt: number | undefined;
  readonly isPinned: boolean;
  /** A person changed its text: no dream touches it. */
  readonly isEdited: boolean;
  readonly state: MemoryState;
}

/** A change of a memory that is there. */
export interface MemoryChange {
  readonly id: string;
  readonly at: number;
  readonly action: ChangeAction;
  /** The members that were otherwise before, and as they are now. */
  readonly before: object;
  readonly after: object;
  readonly reason: string;
}

export type ChangeAction = 'edited' | 'superseded' | 'merged' | 'joined' | 'made' | 'summarised' | 'faded' | 'archived';

/** The memories of one owner, which are searched together. */
export interface MemoryCollection extends Collection {
  readonly no: number;
  readonly owner: string;
}

/** A memory that a search found. */
export interface FoundMemory extends PassageKey {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly memory: Memory;
}

export type MemoryHit = FoundMemory & PassageScores;

/** A chat asks for memories within these bounds. */
export interface RecallBounds {
  readonly max?: number | undefined;
  readonly kinds?: readonly MemoryKind[] | undefined;
}

export interface RecalledMemories {
  readonly memories: readonly RecalledMemory[];
  /** A sentence that says why there are none; undefined: the search was made. */
  readonly note: string | undefined;
  /** Some were not said by the person who asks. */
  readonly isOfOthers: boolean;
}

interface RecalledMemory {
  readonly id: string;
  readonly text: string;
  readonly score: number;
  readonly validFrom: number;
  readonly isOfTenant: boolean;
}

/** The owner of memories of the whole tenant. No subject is called so. */
export const TENANT = 'tenant';

/** The owner of what is searched of an attached file is this and the file's name. */
export const FILE = 'file:';
/** The owner, in the tenant of whoever pinned it, of what everybody's searches find. */
export const MASTER = 'master';

const ACCOUNT = 'user:';

/** Whether others said it, or may have. */
export function isShared(owner: string): boolean {
  return owner === TENANT || owner === MASTER || owner.startsWith(FILE);
}

/**
 * Names the account of a session or key; for a key without an account, the key. All callers without either are one owner of their tenant: while
 * authentication is off, everyone who reaches the node shares these memories.
 */
export function ownerOf({ subject, keyId }: Principal): string {
  if (subject !== undefined) return accountOwner(subject);
  return keyId === undefined ? 'anonymous' : `key:${keyId}`;
}

export function accountOwner(accountId: string): string {
  return `${ACCOUNT}${accountId}`;
}

/** Undefined: the owner is no account. */
export function accountOf(owner: string): string | undefined {
  return owner.startsWith(ACCOUNT) ? owner.slice(ACCOUNT.length) : undefined;
}

/** A tenant's scope with the owners in it whose memories a caller sees. Every store function takes one first. */
export interface Reader extends TenantScope {
  readonly owners: readonly string[];
}

export function readerOf(caller: Principal): Reader {
  return { ...scopeOf(caller), owners: [ownerOf(caller), TENANT] };
}

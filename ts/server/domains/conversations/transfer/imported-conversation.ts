/** A conversation from an export file of any program, and the reading of values of which nothing is known. */
import { createHash } from 'node:crypto';
import type { MessageRole, NewConversation, NewMessage } from '../conversation.ts';

export interface ImportedConversation {
  readonly conversation: NewConversation;
  /** Parents before what follows them, none earlier than the one before. */
  readonly messages: readonly (NewMessage & { readonly parentId: string | null })[];
  readonly currentMessageId: string | undefined;
}

/** The metadata of an imported message of which nobody knows when it was said: its time is that of the import. */
export const UNDATED = { undated: true } as const;

/** A message of a tree as a program wrote it; the tree may be broken in any way. */
export interface ImportedNode {
  readonly id: string;
  readonly parentId: string | undefined;
  /** Undefined: the node only connects others. */
  readonly message:
    | {
        readonly role: MessageRole;
        readonly content: string;
        readonly ts: number | undefined;
        readonly model?: string | undefined;
        readonly citations?: readonly unknown[] | undefined;
        readonly metadata?: Readonly<Record<string, unknown>> | undefined;
      }
    | undefined;
}

export type Unknown = Readonly<Record<string, unknown>>;

/** The end of the year 9999: later times have no ISO 8601 text of four digits. */
const LAST_MS = 253_402_300_799_999;

export function objectOf(value: unknown): Unknown | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Unknown) : undefined;
}

export function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Text that a database can keep, cut to a length. */
export function textOf(value: unknown, maxLength: number): string | undefined {
  if (typeof value !== 'string') return undefined;
  return value.slice(0, maxLength).replaceAll('\0', '\ufffd').toWellFormed();
}

/** An id that fits, or one derived from it: the same each time. */
export function idOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  return /^[A-Za-z0-9_-]{1,64}$/.test(value) ? value : createHash('sha256').update(value).digest('base64url');
}

/** Seconds since 1970 as milliseconds; undefined for what is no such time. */
export function secondsOf(value: unknown): number | undefined {
  return typeof value === 'number' ? timeOf(Math.round(value * 1000)) : undefined;
}

export function isoTimeOf(value: unknown): number | undefined {
  return typeof value === 'string' ? timeOf(Date.parse(value)) : undefined;
}

function timeOf(ms: number): number | undefined {
  return ms >= 0 && ms <= LAST_MS ? ms : undefined;
}

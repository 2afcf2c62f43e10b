/**
 * The hash chain of the audit log. The hash of an entry covers all that it says and the hash of the entry before, so that a line which is changed,
 * removed or put in by hand breaks every hash after it. The head is kept beside the lines: removing the last ones shows too.
 */
import { createHash } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { AuditRow, IdentityTables } from '../tables.ts';
import type { AuditEntry } from './audit-entry.ts';
import { eventsOf } from './audit-events.ts';

export interface ChainHead {
  seq: number;
  hash: string;
}

export const EMPTY_CHAIN: ChainHead = { seq: 0, hash: '' };
/** The fact that holds the head. */
export const AUDIT_HEAD = 'audit_head';

/**
 * Entries must be added in the transaction of what they tell, so that neither is there without the other; so are the events that other modules
 * are told.
 */
export async function appendToChain(tx: Kysely<IdentityTables>, entries: readonly AuditEntry[]): Promise<void> {
  if (entries.length === 0) return;
  const rows: AuditRow[] = [];
  let head = await readHead(tx);
  for (const entry of entries) {
    const row = rowOf(entry, head);
    rows.push(row);
    head = { seq: row.seq, hash: row.hash };
  }
  // The head is written first: on PostgreSQL a transaction that another one was faster than is then repeated, and takes no number twice.
  await tx
    .updateTable('identity_facts')
    .set({ value: JSON.stringify(head) })
    .where('name', '=', AUDIT_HEAD)
    .execute();
  await tx.insertInto('identity_audit').values(rows).execute();
  for (const told of eventsOf(tx, entries)) await told.execute();
}

/** Must be called once, before the first entry. */
export async function beginChain(tx: Kysely<IdentityTables>): Promise<void> {
  await tx
    .insertInto('identity_facts')
    .values({ name: AUDIT_HEAD, value: JSON.stringify(EMPTY_CHAIN) })
    .execute();
}

export async function readHead(tx: Kysely<IdentityTables>): Promise<ChainHead> {
  const fact = await tx.selectFrom('identity_facts').select('value').where('name', '=', AUDIT_HEAD).executeTakeFirstOrThrow();
  return JSON.parse(fact.value) as ChainHead;
}

/** The head after these rows; undefined: the row with the number `brokenAt` is not what was written behind the one before it. */
export function followChain(head: ChainHead, rows: readonly AuditRow[]): { head: ChainHead; brokenAt: number | undefined } {
  let last = head;
  for (const row of rows) {
    if (row.seq !== last.seq + 1 || row.hash !== hashOf(row, last.hash)) return { head: last, brokenAt: last.seq + 1 };
    last = { seq: row.seq, hash: row.hash };
  }
  return { head: last, brokenAt: undefined };
}

function rowOf(entry: AuditEntry, head: ChainHead): AuditRow {
  const { remoteAddress, requestId, detail, ...plain } = entry;
  const row = {
    ...plain,
    seq: head.seq + 1,
    detail: JSON.stringify(detail),
    remote_address: remoteAddress,
    request_id: requestId,
  };
  return { ...row, hash: hashOf(row, head.hash) };
}

/** An array has one JSON text only; an object's members could come in any order. */
function hashOf(row: Omit<AuditRow, 'hash'>, before: string): string {
  const { seq, at, tenant, actor, action, target, outcome, detail, remote_address, request_id } = row;
  const said = [before, seq, at, tenant, actor, action, target, outcome, detail, remote_address, request_id];
  return createHash('sha256').update(JSON.stringify(said)).digest('base64url');
}

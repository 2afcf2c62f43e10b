/**
 * The search index, which is the same on both databases: for each block of messages of a conversation, the terms in it and a bit for each
 * message that has the term. It is written in the transaction of what it is about.
 */
import { type Kysely, sql } from 'kysely';
import type { StorageAccess, TenantScope } from '../../../platform/storage/index.ts';
import type { ConversationTables } from './tables.ts';

export type Dialect = StorageAccess<ConversationTables>['dialect'];

/** As many as JavaScript has bits in its bitwise operators. */
export const BLOCK_MESSAGES = 32;
/** The title's place in the index, which no message has. */
export const TITLE_SEQ = 0;

interface IndexPlace {
  readonly conversationNo: number;
  readonly seq: number;
}

export const blockOf = (seq: number): number => Math.floor(seq / BLOCK_MESSAGES);

/** Texts or integers as rows of one column `value`, by one parameter: the statement's text stays the same for any number of them. */
export function valuesOf(dialect: Dialect, values: readonly (string | number)[]) {
  const list = JSON.stringify(values);
  return dialect === 'sqlite' ? sql`json_each(${list})` : sql`json_array_elements_text(${list}::json)`;
}

export async function addTerms(
  db: Kysely<ConversationTables>,
  dialect: Dialect,
  { tenant }: TenantScope,
  { conversationNo, seq }: IndexPlace,
  terms: readonly string[],
): Promise<void> {
  if (terms.length === 0) return;
  // SQLite reads ON CONFLICT as a part of the join without the WHERE (https://sqlite.org/lang_upsert.html, 2.2).
  await sql`
    insert into conversation_terms (tenant, conversation_no, block, term, bits)
    select ${tenant}, ${integer(dialect, conversationNo)}, ${integer(dialect, blockOf(seq))}, terms.value, ${integer(dialect, bitOf(seq))}
    from ${valuesOf(dialect, terms)} as terms where true
    on conflict (conversation_no, block, term) do update set bits = conversation_terms.bits | excluded.bits
  `.execute(db);
}

export async function removeTerms(
  db: Kysely<ConversationTables>,
  dialect: Dialect,
  { tenant }: TenantScope,
  { conversationNo, seq }: IndexPlace,
  terms: readonly string[],
): Promise<void> {
  if (terms.length === 0) return;
  const there = sql`tenant = ${tenant} and conversation_no = ${conversationNo} and block = ${blockOf(seq)}`;
  await sql`
    update conversation_terms set bits = bits & ~${integer(dialect, bitOf(seq))}
    where ${there} and term in (select value from ${valuesOf(dialect, terms)} as terms)
  `.execute(db);
  await sql`delete from conversation_terms where ${there} and bits = 0`.execute(db);
}

function bitOf(seq: number): number {
  return (1 << (seq % BLOCK_MESSAGES)) >>> 0;
}

/** PostgreSQL takes a parameter in a list of results for text. */
function integer(dialect: Dialect, value: number) {
  return dialect === 'sqlite' ? sql`${value}` : sql`${value}::bigint`;
}

/** Finds messages by the index: newest first, and no further back than needed. */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Storage, StorageAccess } from '../../../platform/storage/index.ts';
import { EventLoopShare } from '../event-loop-share.ts';
import { MAX_SEARCH_HITS } from '../limits.ts';
import type { Owner } from '../owner.ts';
import type { QueryTerm } from '../search/search-query.ts';
import { rowsOf } from './conversation-store.ts';
import type { ConversationRow, ConversationTables } from './tables.ts';
import { BLOCK_MESSAGES, blockOf, type Dialect, TITLE_SEQ, valuesOf } from './term-index.ts';

export interface Found {
  readonly conversationId: string;
  readonly title: string;
  /** Undefined: the title has the words. */
  readonly message: { readonly id: string; readonly role: string; readonly content: string } | undefined;
  readonly ts: number;
}

/** Blocks that are asked for at once; the first step is small, as common words are found in a few and have many rows. */
const FIRST_BLOCKS = 2;
const MOST_BLOCKS = 512;
/** More than a conversation has blocks: a conversation and a block of it are then one number. */
const BLOCKS = 2 ** 20;
/** Behind every term that begins with the same characters; it is no character itself. */
const LAST = '\u{10ffff}';

type SearchedConversation = Pick<ConversationRow, 'no' | 'id' | 'title' | 'updated_at' | 'last_seq'>;

interface Block {
  readonly conversation: SearchedConversation;
  readonly block: number;
  /** Of the messages that may still be found, bit by bit. */
  bits: number;
}

export class SearchStore {
  readonly #access: StorageAccess<ConversationTables>;

  constructor(storage: Storage) {
    this.#access = storage.access<ConversationTables>();
  }

  /** Passes on messages that have all terms, and titles, until the visitor has enough. Conversations come newest first, and so do their messages. */
  async search(owner: Owner, terms: readonly QueryTerm[], visitor: SearchVisitor): Promise<void> {
    await this.#access.read(owner, async (db) => {
      const blocks = blocksOf(db, owner);
      const counts = new Map<number, number>();
      const share = new EventLoopShare();
      for (let size = FIRST_BLOCKS; ; size = Math.min(2 * size, MOST_BLOCKS)) {
        const step = await take(blocks, size);
        if (step.length === 0) return;
        for (const block of step) skipSatisfied(block, counts);
        for (const term of terms) await narrow(db, this.#access.dialect, owner, step, term);
        for (const block of step) {
          if (visitor.hasEnough(block.conversation.updated_at)) return;
          skipSatisfied(block, counts);
          const { no } = block.conversation;
          counts.set(no, (counts.get(no) ?? 0) + (await visit(db, block, visitor, share)));
        }
      }
    });
  }
}

export interface SearchVisitor {
  /** Nothing that follows is later than this. */
  hasEnough(latest: number): boolean;
  /** Whether it is wanted: the index finds some that do not have the words as they were typed. */
  found(found: Found): boolean;
}

/** Older messages of a conversation that has filled the list alone are not needed, though its title is: it counts as the newest. */
function skipSatisfied(block: Block, counts: ReadonlyMap<number, number>): void {
  if ((counts.get(block.conversation.no) ?? 0) >= MAX_SEARCH_HITS) block.bits &= block.block === 0 ? 1 : 0;
}

/** Blocks of the owner's conversations, newest first. */
async function* blocksOf(db: Kysely<ConversationTables>, owner: Owner): AsyncGenerator<Block> {
  const pageSize = 200;
  let last: SearchedConversation | undefined;
  for (;;) {
    let query = rowsOf(db, owner)
      .clearSelect()
      .select(['no', 'id', 'title', 'updated_at', 'last_seq'])
      .where('temporary', '=', 0);
    if (last !== undefined) query = query.where(sql<boolean>`(updated_at, id) < (${last.updated_at}, ${last.id})`);
    const page = await query.orderBy('updated_at', 'desc').orderBy('id', 'desc').limit(pageSize).execute();
    for (const conversation of page)
      for (let block = blockOf(conversation.last_seq); block >= 0; block--) yield { conversation, block, bits: 0xffffffff };
    last = page.at(-1);
    if (page.length < pageSize) return;
  }
}

async function take(blocks: AsyncGenerator<Block>, count: number): Promise<Block[]> {
  const taken: Block[] = [];
  while (taken.length < count) {
    const next = await blocks.next();
    if (next.done === true) break;
    taken.push(next.value);
  }
  return taken;
}

/** Leaves in each block the messages that have the term. */
async function narrow(
  db: Kysely<ConversationTables>,
  dialect: Dialect,
  { tenant }: Owner,
  step: readonly Block[],
  term: QueryTerm,
): Promise<void> {
  const left = step.filter(({ bits }) => bits !== 0);
  if (left.length === 0) return;
  const pairs = left.map(({ conversation, block }) => conversation.no * BLOCKS + block);
  const { rows } = await termRows(dialect, tenant, pairs, term).execute(db);
  const found = new Map<number, number>();
  for (const row of rows) {
    const pair = row.conversation_no * BLOCKS + row.block;
    found.set(pair, (found.get(pair) ?? 0) | row.bits);
  }
  for (const block of left) block.bits &= found.get(block.conversation.no * BLOCKS + block.block) ?? 0;
}

interface TermBits {
  conversation_no: number;
  block: number;
  bits: number;
}

/** Rows of a term in the given blocks. Both databases look into one block after the other, in the order of the primary key. */
function termRows(dialect: Dialect, tenant: string, pairs: readonly number[], term: QueryTerm): RawBuilder<TermBits> {
  const given = sql`(select cast(value as bigint) as pair from ${valuesOf(dialect, pairs)} as given) as pairs`;
  const matches = term.isPrefix
    ? sql`terms.term >= ${term.text} and terms.term < ${term.text + LAST}`
    : sql`terms.term = ${term.text}`;
  const there = sql`terms.conversation_no = pairs.pair / ${BLOCKS} and terms.block = pairs.pair % ${BLOCKS}
    and terms.tenant = ${tenant} and ${matches}`;
  if (dialect === 'sqlite')
    return sql`select distinct conversation_no, block, bits from ${given} cross join conversation_terms as terms where ${there}`;
  // Without the grouping inside, PostgreSQL may read the whole table instead.
  return sql`select found.* from ${given} cross join lateral (
    select conversation_no, block, bit_or(bits) as bits from conversation_terms as terms where ${there} group by conversation_no, block
  ) as found`;
}

/** Returns how many were wanted. */
async function visit(
  db: Kysely<ConversationTables>,
  { conversation, block, bits }: Block,
  visitor: SearchVisitor,
  share: EventLoopShare,
): Promise<number> {
  const seqs = Array.from({ length: BLOCK_MESSAGES }, (_, i) => i)
    .filter((i) => (bits & (1 << i)) !== 0)
    .map((i) => block * BLOCK_MESSAGES + i);
  if (seqs.length === 0) return 0;
  const { id: conversationId, title, updated_at: updatedAt } = conversation;
  const rows = await db
    .selectFrom('conversation_messages')
    .select(['id', 'role', 'content', 'ts'])
    .where('conversation_no', '=', conversation.no)
    .where('seq', 'in', seqs)
    .orderBy('seq', 'desc')
    .execute();
  const found: Found[] = rows.map(({ ts, ...message }) => ({ conversationId, title, message, ts }));
  if (seqs[0] === TITLE_SEQ) found.push({ conversationId, title, message: undefined, ts: updatedAt });
  let count = 0;
  for (const one of found) {
    if (visitor.found(one)) count += 1;
    await share.pause();
  }
  return count;
}

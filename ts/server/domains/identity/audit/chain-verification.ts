/** Reads the whole audit log and follows its chain, a page at a time: a log of years takes longer than one read may. */
import { sql } from 'kysely';
import { systemScope } from '../../../platform/storage/index.ts';
import type { IdentityStorage } from '../tables.ts';
import { AUDIT_HEAD, type ChainHead, EMPTY_CHAIN, followChain, readHead } from './audit-chain.ts';

export interface ChainVerification {
  entries: number;
  /** The first number at which the log is not what was written; undefined: the whole chain holds. */
  brokenAt: number | undefined;
}

const PAGE = 1_000;

/** The log as it was when this began: lines that are added meanwhile are not looked at. */
export async function verifyChain(storage: IdentityStorage): Promise<ChainVerification> {
  const expected = await storage.read(systemScope(), readHead);
  let head: ChainHead = EMPTY_CHAIN;
  while (head.seq < expected.seq) {
    const rows = await readPage(storage, head.seq, expected.seq);
    if (rows.length === 0) break;
    const followed = followChain(head, rows);
    if (followed.brokenAt !== undefined) return { entries: followed.head.seq, brokenAt: followed.brokenAt };
    head = followed.head;
  }
  if (head.seq !== expected.seq || head.hash !== expected.hash) return { entries: head.seq, brokenAt: head.seq + 1 };
  return { entries: head.seq, brokenAt: await findBehindHead(storage) };
}

function readPage(storage: IdentityStorage, after: number, last: number) {
  return storage.read(systemScope(), (db) =>
    db
      .selectFrom('identity_audit')
      .selectAll()
      .where('seq', '>', after)
      .where('seq', '<=', last)
      .orderBy('seq')
      .limit(PAGE)
      .execute(),
  );
}

/** The first line behind the head, which nobody wrote through the chain. One statement, so that both are of one moment. */
async function findBehindHead(storage: IdentityStorage): Promise<number | undefined> {
  const { head, last } = await storage.read(systemScope(), (db) =>
    db
      .selectFrom('identity_facts')
      .select((eb) => [
        'value as head',
        eb.selectFrom('identity_audit').select(sql<number | null>`max(seq)`.as('last')).as('last'),
      ])
      .where('name', '=', AUDIT_HEAD)
      .executeTakeFirstOrThrow(),
  );
  const { seq } = JSON.parse(head) as ChainHead;
  return Number(last ?? 0) > seq ? seq + 1 : undefined;
}

/** What a tenant's conversations and artifacts may take together, on either database. */
import { Readable } from 'node:stream';
import { sql } from 'kysely';
import type { Test } from 'tap';
import { createStorage, type Storage, systemScope } from '../../platform/storage/index.ts';
import { type NewDatabase, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { ArtifactService } from './artifacts/artifact-service.ts';
import { ConversationService } from './service.ts';
import { conversationMigrations } from './store/migrations.ts';
import type { ConversationTables } from './store/tables.ts';
import { ann, owner } from './test-support/conversation-owners.ts';

const LIMIT = 20_000;
const EXCEEDED = { code: 'conversation_quota_exceeded' };
const ben = owner('red', 'ben');
const blue = owner('blue', 'ann');
const text = (length: number): { role: 'user'; content: string } => ({ role: 'user', content: 'x'.repeat(length) });

function testQuotaContract(t: Test, newDatabase: NewDatabase): void {
  const open = async (t: Test) => {
    const database = await newDatabase();
    t.teardown(database.remove);
    const storage = await openStorage(database.url);
    t.teardown(() => storage.close());
    const service = new ConversationService({ storage, temporaryMs: 1_000_000, tenantBytes: LIMIT });
    return { storage, service, artifacts: new ArtifactService({ storage, space: service.space }) };
  };

  t.test('the conversations of a tenant take no more than its space, and what is erased is given back', async (t) => {
    const { storage, service } = await open(t);
    for (const who of [ann, ben, blue]) await service.create(who, { id: 'c' });
    await service.append(ann, 'c', text(12_000));
    await service.append(ben, 'c', text(6_000));
    await t.rejects(service.append(ann, 'c', text(2_000)), {
      ...EXCEEDED,
      message: /take \d+ of 20000 bytes, and this needs 2256 more\. Delete .* raise `conversations\.tenant_bytes`/,
    });
    await service.append(blue, 'c', text(12_000));
    t.equal(await countedBytes(storage, 'red'), 2 * 256 + 2 * 256 + 18_000);
    await service.erase(ann);
    await service.append(ben, 'c', text(12_000));
  });

  t.test('what is erased is given back while nobody can erase its files yet', async (t) => {
    const { storage } = await open(t);
    const files = { isConnected: false, erase: async () => undefined };
    const service = new ConversationService({ storage, files, temporaryMs: 1_000_000, tenantBytes: LIMIT });
    await service.create(ann, { id: 'c' });
    await service.makeFilesKey(ann, 'c');
    await service.append(ann, 'c', text(12_000));
    await service.erase(ann);
    t.equal(await countedBytes(storage, 'red'), 0);
    await service.create(ann, { id: 'd' });
    await service.append(ann, 'd', text(12_000));
  });

  t.test('messages that come at once do not exceed it together', async (t) => {
    const { storage, service } = await open(t);
    await Promise.all([1, 2, 3, 4, 5].map((n) => service.create(ann, { id: `c${n}` })));
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, (_, i) => service.append(ann, `c${(i % 5) + 1}`, text(4_000))),
    );
    t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 4);
    for (const outcome of outcomes) if (outcome.status === 'rejected') t.match(outcome.reason, EXCEEDED);
    t.equal(await countedBytes(storage, 'red'), 5 * 256 + 4 * 4_256);
  });

  t.test('whatever is written counts: titles, metadata, artifacts and imports', async (t) => {
    const { storage, service, artifacts } = await open(t);
    const metadata = { note: 'x'.repeat(9_000) };
    await service.create(ann, { id: 'c', metadata });
    await t.rejects(service.create(ann, { id: 'd', metadata: { note: 'x'.repeat(12_000) } }), EXCEEDED);
    await t.rejects(service.update(ann, 'c', { metadata: { note: 'x'.repeat(20_000) } }), EXCEEDED);
    await t.rejects(artifacts.create(ann, { title: 'A', kind: 'code', content: 'x'.repeat(12_000) }), EXCEEDED);
    const { artifact } = await artifacts.create(ann, { title: 'A', kind: 'code', content: 'x'.repeat(2_000) });
    await t.rejects(artifacts.addVersion(ann, artifact.id, { content: 'x'.repeat(9_000) }), EXCEEDED);
    const before = await countedBytes(storage, 'red');
    await t.rejects(service.import(ann, exported('x'.repeat(9_000))), EXCEEDED);
    t.equal(await countedBytes(storage, 'red'), before, 'an import that is refused takes nothing');
    await service.update(ann, 'c', { metadata: null });
    await service.import(ann, exported('x'.repeat(9_000)));
    await artifacts.remove(ann, artifact.id);
    t.equal(await countedBytes(storage, 'red'), 256 + 256 + 'Imported'.length + 256 + 9_000);
  });

  t.test('what was there before the limit is counted when the database is migrated', async (t) => {
    const { url, remove } = await newDatabase();
    t.teardown(remove);
    const older = await openStorage(url, 5);
    await older
      .access<ConversationTables>()
      .writeUnit(ann, (db) => OLD_ROWS.map((statement) => ({ compile: () => sql.raw(statement).compile(db) })));
    await older.close();
    const storage = await openStorage(url);
    t.teardown(() => storage.close());
    t.equal(await countedBytes(storage, 'red'), 256 + 5 + 2 + 2 * 256 + 10 + 3 + 256 + 1 + 2 * 256 + 9);
  });
}

const OLD_ROWS = [
  `insert into conversations (tenant, no, subject, id, title, pinned, archived, temporary, metadata, created_at, updated_at, version, last_seq)
    values ('red', 1, 'ann', 'c', 'Title', 0, 0, 0, '{}', 1, 1, 1, 2)`,
  `insert into conversation_messages (tenant, conversation_no, seq, id, role, content, citations, ts)
    values ('red', 1, 1, 'm1', 'user', 'Bücher', null, 1), ('red', 1, 2, 'm2', 'user', 'all', '[1]', 1)`,
  `insert into artifacts (tenant, no, subject, id, title, kind, created_at, updated_at, last_version)
    values ('red', 1, 'ann', 'a', 'A', 'code', 1, 1, 2)`,
  `insert into artifact_versions (tenant, artifact_no, version, content, created_at)
    values ('red', 1, 1, 'four', 1), ('red', 1, 2, 'fives', 1)`,
];

async function openStorage(url: string, lastMigration = Number.POSITIVE_INFINITY): Promise<Storage> {
  const migrations = conversationMigrations.filter(({ id }) => id <= lastMigration);
  const storage = createStorage({ url, modules: [{ module: 'conversations', migrations }] });
  await storage.open();
  return storage;
}

async function countedBytes(storage: Storage, tenant: string): Promise<number> {
  return await storage.access<ConversationTables>().read(systemScope(), async (db) => {
    let total = 0;
    for (const table of ['conversations', 'artifacts'] as const) {
      const rows = await db.selectFrom(table).select('bytes').where('tenant', '=', tenant).execute();
      for (const { bytes } of rows) total += bytes;
    }
    return total;
  });
}

function exported(content: string): Readable {
  const conversation = {
    id: 'imported',
    title: 'Imported',
    messages: [{ id: 'm', role: 'user', content, ts: '2026-01-01T00:00:00Z' }],
  };
  return Readable.from([Buffer.from(JSON.stringify({ conversations: [conversation] }))]);
}

onEachDatabase(testQuotaContract);

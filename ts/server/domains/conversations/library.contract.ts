/** What holds of links, artifacts, prompts and folders on both databases. Each test opens a database of its own. */
import { sql } from 'kysely';
import type { Test } from 'tap';
import { createStorage, type Storage, systemScope } from '../../platform/storage/index.ts';
import { type NewDatabase, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { MAX_ARTIFACT_VERSIONS, MAX_PROMPTS } from './limits.ts';
import { tenantList } from './prompts/prompt-store.ts';
import type { ConversationServices } from './routes.ts';
import { ConversationService } from './service.ts';
import { createServices } from './services.ts';
import { conversationMigrations } from './store/migrations.ts';
import type { ConversationTables } from './store/tables.ts';
import { ann, owner } from './test-support/conversation-owners.ts';

const ben = owner('red', 'ben');
const blueAnn = owner('blue', 'ann');

interface Bed extends ConversationServices {
  storage: Storage;
}

async function openBed(t: Test, newDatabase: NewDatabase): Promise<Bed> {
  const database = await newDatabase();
  const modules = [{ module: 'conversations', migrations: conversationMigrations }];
  const storage = createStorage({ url: database.url, modules });
  t.teardown(async () => {
    await storage.close();
    await database.remove();
  });
  await storage.open();
  return { storage, ...createServices(storage, new ConversationService({ storage, temporaryMs: 1000 })) };
}

async function fill({ conversations }: Bed, id: string, contents: readonly string[]): Promise<void> {
  await conversations.create(ann, { id, title: `About ${id}` });
  for (const [i, content] of contents.entries())
    await conversations.append(ann, id, { id: `${id}${i + 1}`, role: i % 2 === 0 ? 'user' : 'assistant', content });
}

async function countRows(storage: Storage, table: keyof ConversationTables): Promise<number> {
  return await storage.access<ConversationTables>().read(systemScope(), async (db) => {
    const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.table(table)}`.execute(db);
    return Number(rows[0]?.n);
  });
}

function testLibraryContract(t: Test, newDatabase: NewDatabase): void {
  const open = (t: Test) => openBed(t, newDatabase);

  t.test('a link shows the branch as it was shared, to everybody of the tenant and to nobody else', async (t) => {
    const bed = await open(t);
    await fill(bed, 'c', ['one', 'two']);
    await bed.conversations.append(ann, 'c', { id: 'other', role: 'assistant', content: 'another answer', parentId: 'c1' });
    await bed.conversations.update(ann, 'c', { currentMessageId: 'c2' });
    const { share, isNew } = await bed.shares.share(ann, 'c');
    t.equal(isNew, true);
    t.match(share.id, /^[A-Za-z0-9_-]{24}$/);
    t.strictSame(await bed.shares.share(ann, 'c'), { share, isNew: false }, 'the same branch keeps its link');
    await bed.conversations.append(ann, 'c', { role: 'user', content: 'later' });
    const page = await bed.shares.read(ben, share.id);
    t.match(page, { title: 'About c', nextSeq: undefined });
    t.strictSame(
      page.messages.map(({ content }) => content),
      ['one', 'two'],
    );
    t.strictSame(
      (await bed.shares.read(ben, share.id, 1)).messages.map(({ content }) => content),
      ['two'],
    );
    const notFound = { code: 'share_not_found' };
    await t.rejects(bed.shares.read(blueAnn, share.id), notFound);
    await t.rejects(bed.shares.read(ben, 'unknown'), notFound);
  });

  t.test('only the owner shares, lists and takes back; an erased conversation is shared no more', async (t) => {
    const bed = await open(t);
    await fill(bed, 'c', ['one']);
    await fill(bed, 'empty', []);
    await t.rejects(bed.shares.share(ann, 'empty'), { code: 'invalid_request' });
    const { share } = await bed.shares.share(ann, 'c');
    for (const other of [ben, blueAnn]) {
      await t.rejects(bed.shares.share(other, 'c'), { code: 'conversation_not_found' });
      await t.rejects(bed.shares.revoke(other, share.id), { code: 'share_not_found' });
      t.strictSame(await bed.shares.list(other), []);
    }
    t.strictSame(await bed.shares.list(ann), [share]);
    t.strictSame(await bed.shares.list(ann, 'empty'), []);
    await bed.shares.revoke(ann, share.id);
    await t.rejects(bed.shares.read(ben, share.id), { code: 'share_not_found' });
    const again = await bed.shares.share(ann, 'c');
    await bed.conversations.erase(ann, 'c');
    await t.rejects(bed.shares.read(ben, again.share.id), { code: 'share_not_found' });
    t.equal(await countRows(bed.storage, 'conversation_shares'), 0);
  });

  t.test('an artifact has versions, each with its content', async (t) => {
    const { artifacts } = await open(t);
    const input = { id: 'a', title: 'Clock', kind: 'html', content: '<p>1' } as const;
    t.match(await artifacts.create(ann, input), { isNew: true, artifact: { lastVersion: 1, conversationId: undefined } });
    t.match(await artifacts.create(ann, { ...input, content: 'x' }), { isNew: false, artifact: { lastVersion: 1 } });
    t.match(await artifacts.addVersion(ann, 'a', { content: '<p>2' }), { isNew: true, artifact: { lastVersion: 2 } });
    t.match(await artifacts.addVersion(ann, 'a', { content: '<p>2' }), { isNew: false, artifact: { lastVersion: 2 } });
    t.match(await artifacts.get(ann, 'a'), {
      shown: { version: 2, content: '<p>2' },
      versions: [{ version: 1 }, { version: 2 }],
    });
    t.match(await artifacts.get(ann, 'a', 1), { shown: { version: 1, content: '<p>1' } });
    for (const version of [0, 3, 2 ** 40]) await t.rejects(artifacts.get(ann, 'a', version), { code: 'artifact_not_found' });
    await t.rejects(artifacts.create(ann, { ...input, id: 'share' }), { code: 'invalid_request' });
    await t.rejects(artifacts.create(ann, { ...input, id: 'b', content: 'a\0b' }), { code: 'invalid_request' });
    for (let version = 3; version <= MAX_ARTIFACT_VERSIONS; version++)
      await artifacts.addVersion(ann, 'a', { content: String(version) });
    await t.rejects(artifacts.addVersion(ann, 'a', { content: 'more' }), { code: 'artifact_full' });
  });

  t.test('versions that are added at once are all there', async (t) => {
    const { artifacts } = await open(t);
    await artifacts.create(ann, { id: 'a', title: '', kind: 'code', content: 'first' });
    await Promise.all(['x', 'y', 'z'].map((content) => artifacts.addVersion(ann, 'a', { content })));
    t.strictSame(
      (await artifacts.get(ann, 'a')).versions.map(({ version }) => version),
      [1, 2, 3, 4],
    );
  });

  t.test('artifacts are listed newest first, in pages, and of one conversation', async (t) => {
    const bed = await open(t);
    const { artifacts } = bed;
    await fill(bed, 'c', ['one']);
    const conversationId = 'c';
    for (const id of ['p', 'q', 'r'])
      await artifacts.create(ann, { id, title: id, kind: 'svg', content: id, ...(id === 'q' && { conversationId }) });
    await artifacts.create(ben, { id: 'b', title: 'ben', kind: 'svg', content: 'b' });
    const first = await artifacts.list(ann, 2);
    const rest = await artifacts.list(ann, 2, first.at(-1));
    t.strictSame([...first, ...rest].map(({ id }) => id).sort(), ['p', 'q', 'r']);
    t.match(await artifacts.list(ann, 10, undefined, 'c'), [{ id: 'q', conversationId: 'c' }]);
    await t.rejects(artifacts.create(ben, { title: '', kind: 'svg', content: 'x', conversationId }), {
      code: 'conversation_not_found',
    });
  });

  t.test('an artifact is its owner’s, but through a link, and goes with its conversation', async (t) => {
    const bed = await open(t);
    const { artifacts } = bed;
    await fill(bed, 'c', ['one']);
    await artifacts.create(ann, { id: 'a', title: 'Clock', kind: 'html', content: 'v1', conversationId: 'c', messageId: 'c1' });
    await artifacts.create(ann, { id: 'own', title: 'Free', kind: 'html', content: 'x' });
    const { share } = await artifacts.share(ann, 'a');
    await artifacts.addVersion(ann, 'a', { content: 'v2' });
    t.match(await artifacts.share(ann, 'a', 1), { share: { id: share.id }, isNew: false });
    t.match(await artifacts.get(ann, 'a'), { shares: [{ id: share.id, version: 1 }] });
    t.match(await artifacts.readShared(ben, share.id), {
      artifact: { title: 'Clock', conversationId: undefined },
      shown: { version: 1, content: 'v1', messageId: undefined },
    });
    for (const other of [ben, blueAnn]) {
      const notFound = { code: 'artifact_not_found' };
      await t.rejects(artifacts.get(other, 'a'), notFound);
      await t.rejects(artifacts.addVersion(other, 'a', { content: 'x' }), notFound);
      await t.rejects(artifacts.remove(other, 'a'), notFound);
      await t.rejects(artifacts.share(other, 'a'), notFound);
      await t.rejects(artifacts.revoke(other, share.id), { code: 'share_not_found' });
      t.strictSame(await artifacts.list(other, 10), []);
    }
    await t.rejects(artifacts.share(ann, 'a', 3), { code: 'artifact_not_found' });
    await t.rejects(artifacts.readShared(blueAnn, share.id), { code: 'share_not_found' });
    await bed.conversations.erase(ann, 'c');
    await t.rejects(artifacts.get(ann, 'a'), { code: 'artifact_not_found' });
    await t.rejects(artifacts.readShared(ben, share.id), { code: 'share_not_found' });
    t.match(await artifacts.list(ann, 10), [{ id: 'own' }]);
    t.equal(await countRows(bed.storage, 'artifact_versions'), 1);
    t.equal(await countRows(bed.storage, 'artifact_shares'), 0);
  });

  t.test('prompts of one’s own and of the tenant', async (t) => {
    const { prompts } = await open(t);
    const everybody = tenantList(ann);
    await prompts.create(ann, { id: 'p', title: 'Mine', content: 'Say {{x}}' });
    await prompts.create(everybody, { id: 'p', title: 'Ours', content: 'Be brief' });
    t.match(await prompts.create(ann, { id: 'p', title: 'Again', content: 'x' }), { isNew: false, prompt: { title: 'Mine' } });
    t.match(await prompts.list(ann), [
      { title: 'Mine', isShared: false },
      { title: 'Ours', isShared: true },
    ]);
    t.match(await prompts.list(ben), [{ title: 'Ours', isShared: true }]);
    t.strictSame(await prompts.list(blueAnn), []);
    t.match(await prompts.update(ann, 'p', { title: 'Better' }), { title: 'Better', content: 'Say {{x}}' });
    await t.rejects(prompts.update(ben, 'p', { title: 'Stolen' }), { code: 'prompt_not_found' });
    await t.rejects(prompts.remove(ben, 'p'), { code: 'prompt_not_found' });
    await prompts.remove(everybody, 'p');
    t.match(await prompts.list(ann), [{ title: 'Better' }]);
    await t.rejects(prompts.create(ann, { title: 'a\0', content: 'x' }), { code: 'invalid_request' });
    for (let count = 1; count < MAX_PROMPTS; count++) await prompts.create(ann, { title: `n${count}`, content: 'x' });
    await t.rejects(prompts.create(ann, { title: 'one more', content: 'x' }), { code: 'too_many_prompts' });
  });

  t.test('folders are what conversations carry, and are renamed together', async (t) => {
    const { conversations } = await open(t);
    for (const [id, folder] of [
      ['a', 'Work'],
      ['b', 'Work'],
      ['c', 'Home'],
    ] as const)
      await conversations.create(ann, { id, folder });
    await conversations.create(ann, { id: 'old', folder: 'Old', isArchived: true });
    await conversations.create(ben, { id: 'd', folder: 'Theirs' });
    t.strictSame(await conversations.listFolders(ann), [
      { folder: 'Home', nConversations: 1 },
      { folder: 'Work', nConversations: 2 },
    ]);
    t.equal(await conversations.renameFolder(ben, 'Work', 'Stolen'), 0);
    t.equal(await conversations.renameFolder(ann, 'Work', 'Office'), 2);
    t.match(await conversations.get(ann, 'a'), { folder: 'Office', version: 2 });
    t.equal(await conversations.renameFolder(ann, 'Home', null), 1);
    t.strictSame(await conversations.listFolders(ann), [{ folder: 'Office', nConversations: 2 }]);
  });
}

onEachDatabase(testLibraryContract);

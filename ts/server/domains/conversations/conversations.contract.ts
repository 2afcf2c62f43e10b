/** What holds of conversations on both databases. Each test opens a database of its own. */
import { Readable } from 'node:stream';
import { sql } from 'kysely';
import type { Test } from 'tap';
import { silentLog } from '../../platform/module/test-support/scripted-context.ts';
import { createStorage, type Storage, systemScope } from '../../platform/storage/index.ts';
import { type NewDatabase, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import type { MessageRole } from './conversation.ts';
import type { Owner } from './owner.ts';
import { ConversationService } from './service.ts';
import { conversationMigrations } from './store/migrations.ts';
import type { ConversationTables } from './store/tables.ts';
import { Sweep } from './sweep.ts';
import { ann, owner } from './test-support/conversation-owners.ts';

async function collect<T>(given: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const each of given) all.push(each);
  return all;
}

interface Bed {
  storage: Storage;
  service: ConversationService;
  /** Moves the service's clock, which begins at 1,000,000 ms and goes on by 1 ms with each question. */
  wait(ms: number): void;
}

const ben = owner('red', 'ben');
const blueAnn = owner('blue', 'ann');
const TEMPORARY_MS = 1_000_000;

async function openBed(t: Test, newDatabase: NewDatabase): Promise<Bed> {
  const database = await newDatabase();
  const storage = createStorage({
    url: database.url,
    modules: [{ module: 'conversations', migrations: conversationMigrations }],
  });
  let now = 1_000_000;
  const service = new ConversationService({ storage, temporaryMs: TEMPORARY_MS, now: () => now++ });
  t.teardown(async () => {
    await service.close();
    await storage.close();
    await database.remove();
  });
  await storage.open();
  return {
    storage,
    service,
    wait: (ms) => {
      now += ms;
    },
  };
}

/** Appends messages whose ids are `m1`, `m2` ... */
async function fill(service: ConversationService, who: Owner, id: string, contents: readonly string[]): Promise<void> {
  await service.create(who, { id, title: `About ${id}` });
  for (const [i, content] of contents.entries()) {
    const role: MessageRole = i % 2 === 0 ? 'user' : 'assistant';
    await service.append(who, id, { id: `m${i + 1}`, role, content });
  }
}

async function countRows(storage: Storage): Promise<Record<string, number>> {
  const access = storage.access<ConversationTables>();
  const count = (table: keyof ConversationTables) =>
    access.read(systemScope(), async (db) => {
      const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.table(table)}`.execute(db);
      return rows[0]?.n ?? 0;
    });
  return {
    conversations: await count('conversations'),
    messages: await count('conversation_messages'),
    terms: await count('conversation_terms'),
  };
}

const NOTHING = { conversations: 0, messages: 0, terms: 0 };

function testConversationContract(t: Test, newDatabase: NewDatabase): void {
  const open = (t: Test) => openBed(t, newDatabase);

  t.test(
    'what a person wrote is read of the branch that is shown, from conversations that rest, and never of temporary ones',
    async (t) => {
      const { service, wait } = await openBed(t, newDatabase);
      await fill(service, ann, 'old', ['before', 'answer']);
      wait(1_000);
      const after = (await service.get(ann, 'old')).updatedAt;
      await fill(service, ann, 'talk', ['one', 'answer', 'two', 'answer']);
      await service.append(ann, 'talk', { id: 'm5', role: 'user', content: 'two, said otherwise', parentId: 'm2' });
      await service.append(ann, 'talk', { id: 'm6', role: 'tool', content: 'a result' });
      await service.create(ann, { id: 'secret', isTemporary: true });
      await service.append(ann, 'secret', { role: 'user', content: 'nobody reads this' });
      await fill(service, ben, 'foreign', ['of ben']);
      wait(1_000);
      const until = (await service.get(ann, 'talk')).updatedAt;
      await fill(service, ann, 'busy', ['now']);
      const said = await collect(service.said(ann, { after, until }));
      t.match(said, [
        {
          id: 'talk',
          messages: [
            { id: 'm1', seq: 1, text: 'one' },
            { id: 'm5', seq: 5, text: 'two, said otherwise' },
          ],
        },
      ]);
      t.equal(said[0]?.messages.length, 2);
      const message = { id: 'm', parent_id: null, role: 'user', content: 'I live in Berlin' };
      const file = [
        { id: 'undated', messages: [message] },
        { id: 'dated', messages: [{ ...message, ts: '2023-01-01T00:00:00Z' }] },
      ];
      await service.import(ann, Readable.from([Buffer.from(JSON.stringify({ conversations: file }))]));
      const imported = (await collect(service.said(ann, { after: 0, until: Date.now() * 2 }))).map(({ id }) => id);
      t.ok(
        imported.includes('dated') && !imported.includes('undated'),
        'a message of which nobody knows when it was said is not read',
      );
      t.strictSame(await collect(service.said(ann, { after: until, until })), []);
    },
  );

  t.test('messages come back in their order, each following the one before', async (t) => {
    const { service } = await open(t);
    await fill(service, ann, 'c', ['one', 'two', 'three']);
    const { messages } = await service.messages(ann, 'c', { limit: 100 });
    t.match(messages, [
      { seq: 1, parentId: undefined, role: 'user', content: 'one' },
      { seq: 2, parentId: 'm1', role: 'assistant', content: 'two' },
      { seq: 3, parentId: 'm2', role: 'user', content: 'three' },
    ]);
    t.match(await service.get(ann, 'c'), { messageCount: 3, version: 4, currentMessageId: 'm3' });
  });

  t.test('other subjects and tenants see, change and erase nothing', async (t) => {
    const { service } = await open(t);
    await fill(service, ann, 'c', ['secret plans']);
    const before = await service.get(ann, 'c');
    for (const other of [ben, blueAnn]) {
      const notFound = { code: 'conversation_not_found' };
      await t.rejects(service.get(other, 'c'), notFound);
      await t.rejects(service.update(other, 'c', { title: 'Mine' }), notFound);
      await t.rejects(service.append(other, 'c', { role: 'user', content: 'x' }), notFound);
      await t.rejects(service.messages(other, 'c', { limit: 10 }), notFound);
      await t.rejects(service.erase(other, 'c'), notFound);
      t.equal(await service.erase(other), 0);
      t.equal((await service.currentBranch(other, before)).size <= 1, true);
      t.strictSame(await service.list(other, {}, 10), []);
      t.strictSame(await service.search(other, 'secret'), []);
      t.strictSame(await service.search(other, 'about'), []);
      const { conversation, isNew } = await service.create(other, { id: 'c', title: 'Same id' });
      t.match({ conversation, isNew }, { conversation: { title: 'Same id', messageCount: 0 }, isNew: true });
    }
    t.strictSame(await service.get(ann, 'c'), before);
  });

  t.test('a message with an id is stored once', async (t) => {
    const { service } = await open(t);
    await fill(service, ann, 'c', []);
    const append = (content: string) => service.append(ann, 'c', { id: 'x', role: 'user', content });
    const answers = await Promise.all([append('hello'), append('hello'), append('hello')]);
    t.strictSame(answers.map(({ isNew }) => isNew).sort(), [false, false, true]);
    t.equal((await service.get(ann, 'c')).messageCount, 1);
    await t.rejects(append('other'), { code: 'message_conflict' });
  });

  t.test('several messages are appended together, one behind the other, or none of them is', async (t) => {
    const { service } = await openBed(t, newDatabase);
    await fill(service, ann, 'c', ['hello']);
    const [question, answer] = await service.appendAll(ann, 'c', [
      { id: 'q', role: 'user', content: 'where?' },
      { id: 'a', role: 'assistant', content: 'by the oak' },
    ]);
    t.match(question?.message, { id: 'q', seq: 2, parentId: 'm1' });
    t.match(answer?.message, { id: 'a', seq: 3, parentId: 'q' });
    t.match(await service.get(ann, 'c'), { messageCount: 3, currentMessageId: 'a', version: answer?.version });
    t.strictSame((await service.search(ann, 'oak')).length, 1);
    const twice = [
      { id: 'q2', role: 'user', content: 'again?' },
      { id: 'a', role: 'assistant', content: 'another answer' },
    ] as const;
    await t.rejects(service.appendAll(ann, 'c', twice), { code: 'message_conflict' });
    t.notOk(await service.hasMessage(ann, 'c', 'q2'), 'the first of them went back');
    t.ok(await service.hasMessage(ann, 'c', 'a'));
    t.notOk(await service.hasMessage(ben, 'c', 'a'));
    t.equal((await service.get(ann, 'c')).messageCount, 3);
  });

  t.test('of two writers that read the same version, one is refused', async (t) => {
    const { service } = await open(t);
    await fill(service, ann, 'c', ['one']);
    const { version } = await service.get(ann, 'c');
    const append = (content: string) => service.append(ann, 'c', { role: 'user', content }, version);
    const outcomes = await Promise.allSettled([append('from one tab'), append('from another')]);
    t.strictSame(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    t.match(
      outcomes.find(({ status }) => status === 'rejected'),
      { reason: { code: 'version_conflict', extra: { version: version + 1 } } },
    );
    await t.rejects(service.update(ann, 'c', { title: 'x' }, version), { code: 'version_conflict' });
  });

  t.test('concurrent messages get consecutive numbers', async (t) => {
    const { service } = await open(t);
    await fill(service, ann, 'c', []);
    await Promise.all(Array.from({ length: 20 }, (_, i) => service.append(ann, 'c', { role: 'user', content: `${i}` })));
    const { messages } = await service.messages(ann, 'c', { limit: 100 });
    t.strictSame(
      messages.map(({ seq }) => seq),
      Array.from({ length: 20 }, (_, i) => i + 1),
    );
  });

  t.test('branches: a message may follow any other, and the branch shown can be chosen', async (t) => {
    const { service } = await open(t);
    await fill(service, ann, 'c', ['question', 'answer', 'more']);
    await service.append(ann, 'c', { id: 'b2', role: 'assistant', content: 'another answer', parentId: 'm1' });
    const branch = async () => [...(await service.currentBranch(ann, await service.get(ann, 'c')))];
    t.strictSame(await branch(), ['m1', 'b2']);
    await service.update(ann, 'c', { currentMessageId: 'm3' });
    t.strictSame(await branch(), ['m1', 'm2', 'm3']);
    await service.append(ann, 'c', { id: 'n', role: 'user', content: 'anew', parentId: null });
    t.strictSame(await branch(), ['n']);
    await t.rejects(service.append(ann, 'c', { role: 'user', content: 'x', parentId: 'gone' }), { code: 'message_not_found' });
    await t.rejects(service.update(ann, 'c', { currentMessageId: 'gone' }), { code: 'message_not_found' });
  });

  t.test('a list is newest first, filtered, and comes in pages', async (t) => {
    const { service } = await open(t);
    for (const id of ['a', 'b', 'c', 'd']) await fill(service, ann, id, []);
    await service.update(ann, 'b', { isPinned: true, folder: 'Work', metadata: { color: 'red' }, model: 'small' });
    await service.update(ann, 'c', { isArchived: true });
    await service.append(ann, 'a', { role: 'user', content: 'late' });
    const ids = async (...given: Parameters<ConversationService['list']> extends [Owner, ...infer Rest] ? Rest : never) =>
      (await service.list(ann, ...given)).map(({ id }) => id);
    t.strictSame(await ids({}, 10), ['a', 'd', 'c', 'b']);
    t.strictSame(await ids({ isArchived: false }, 10), ['a', 'd', 'b']);
    t.strictSame(await ids({ isPinned: true }, 10), ['b']);
    t.strictSame(await ids({ folder: 'Work' }, 10), ['b']);
    const [, second] = await service.list(ann, {}, 2);
    t.strictSame(await ids({}, 2, second), ['c', 'b']);
    t.match(await service.get(ann, 'b'), { folder: 'Work', metadata: { color: 'red' }, model: 'small' });
    t.match(await service.update(ann, 'b', { folder: null, metadata: null }), { folder: undefined, metadata: undefined });
  });

  t.test('messages come in pages, from the beginning or from the end', async (t) => {
    const { service } = await open(t);
    await fill(service, ann, 'c', ['1', '2', '3', '4', '5']);
    const page = async (range: Parameters<ConversationService['messages']>[2]) => {
      const { messages, isWhole } = await service.messages(ann, 'c', range);
      return [messages.map(({ seq }) => seq), isWhole];
    };
    t.strictSame(await page({ limit: 2 }), [[1, 2], false]);
    t.strictSame(await page({ limit: 3, after: 2 }), [[3, 4, 5], true]);
    t.strictSame(await page({ limit: 2, before: 4, fromEnd: true }), [[2, 3], false]);
    t.strictSame(await page({ limit: 2, after: 5 }), [[], true]);
  });

  t.test('what was erased has left no row', async (t) => {
    const { storage, service } = await open(t);
    await fill(service, ann, 'a', ['alpha beta', 'gamma']);
    await fill(service, ann, 'b', ['delta']);
    t.equal(await service.erase(ann, 'a'), 1);
    t.strictSame(await service.search(ann, 'gamma'), []);
    t.match(await countRows(storage), { conversations: 1, messages: 1 });
    await fill(service, ben, 'keep', ['epsilon']);
    t.equal(await service.erase(ann), 1);
    t.equal(await service.erase(ann), 0);
    t.match(await countRows(storage), { conversations: 1, messages: 1 });
    t.equal((await service.search(ben, 'epsilon')).length, 1);
    await service.erase(ben);
    t.strictSame(await countRows(storage), NOTHING);
    await fill(service, ann, 'a', ['again']);
    t.equal((await service.get(ann, 'a')).messageCount, 1);
  });

  t.test('a long conversation and many short ones are erased whole', async (t) => {
    const { storage, service } = await open(t);
    const talk = (id: string, count: number) => ({
      id,
      messages: Array.from({ length: count }, (_, i) => ({ id: `m${i}`, role: 'user', content: `word${i} common` })),
    });
    const file = [talk('long', 270), ...Array.from({ length: 52 }, (_, i) => talk(`short${i}`, 1))];
    t.match(await service.import(ann, Readable.from([Buffer.from(`{"conversations":${JSON.stringify(file)}}`)])), {
      imported: 53,
      messages: 322,
    });
    t.equal((await service.search(ann, 'word269')).length, 1);
    t.equal(await service.erase(ann), 53);
    t.strictSame(await countRows(storage), NOTHING);
  });

  t.test('a temporary conversation is neither listed nor found, and goes when its time is over', async (t) => {
    const { storage, service } = await open(t);
    await service.create(ann, { id: 'c', title: 'Hidden', isTemporary: true });
    await service.append(ann, 'c', { role: 'user', content: 'whisper' });
    t.strictSame(await service.list(ann, {}, 10), []);
    t.strictSame([...(await service.search(ann, 'whisper')), ...(await service.search(ann, 'hidden'))], []);
    t.equal((await service.messages(ann, 'c', { limit: 1 })).messages.length, 1);
    const sweep = new Sweep(storage, silentLog);
    await sweep.run(1_000_000 + TEMPORARY_MS);
    t.equal((await service.get(ann, 'c')).messageCount, 1, 'its message has moved the end');
    await sweep.run(1_000_100 + TEMPORARY_MS);
    t.strictSame(await countRows(storage), NOTHING);
  });

  t.test('what a crash left half erased is removed at the next start', async (t) => {
    const { storage, service } = await open(t);
    await fill(service, ann, 'c', ['one']);
    await storage
      .access<ConversationTables>()
      .writeUnit(ann, (db) => [db.updateTable('conversations').set({ subject: '', id: '1', title: '' })]);
    t.strictSame(await service.list(ann, {}, 10), []);
    const sweep = new Sweep(storage, silentLog);
    sweep.start();
    await sweep.stop();
    t.strictSame(await countRows(storage), NOTHING);
  });

  t.test('a page of messages ends at 8 MiB, of whatever these are', async (t) => {
    const { service } = await open(t);
    await service.create(ann, { id: 'c' });
    const long = 'x'.repeat(250_000);
    for (let i = 0; i < 5; i++) {
      const inputs = Array.from(
        { length: 4 },
        () => ({ role: 'user', content: 'a', metadata: { long }, citations: [long] }) as const,
      );
      await service.appendAll(ann, 'c', inputs);
    }
    const first = await service.messages(ann, 'c', { limit: 1_000 });
    t.match(first, { isWhole: false, messages: { length: 16 } });
    t.match(await service.messages(ann, 'c', { limit: 1_000, after: 16 }), { isWhole: true, messages: { length: 4 } });
    const last = await service.messages(ann, 'c', { limit: 1_000, before: 21, fromEnd: true });
    t.strictSame([last.isWhole, last.messages.at(0)?.seq, last.messages.at(-1)?.seq], [false, 5, 20]);
  });

  t.test('a list leaves metadata out, and one conversation and an export have it', async (t) => {
    const { service } = await open(t);
    await service.create(ann, { id: 'c', metadata: { color: 'red' } });
    const [listed] = await service.list(ann, {}, 10);
    t.notOk('metadata' in (listed ?? {}));
    t.match(await service.get(ann, 'c'), { metadata: { color: 'red' } });
    for await (const exported of service.each(ann)) t.match(exported, { metadata: { color: 'red' } });
  });

  t.test('text that a database cannot store is refused or made whole', async (t) => {
    const { service } = await open(t);
    await fill(service, ann, 'c', []);
    await t.rejects(service.append(ann, 'c', { role: 'user', content: 'a\0b' }), { code: 'invalid_request' });
    await t.rejects(service.create(ann, { title: '\0' }), { code: 'invalid_request' });
    const long = { text: 'x'.repeat(300_000) };
    await t.rejects(service.append(ann, 'c', { role: 'user', content: 'a', metadata: long }), { code: 'invalid_request' });
    for (const id of ['half', 'half'])
      t.equal((await service.append(ann, 'c', { id, role: 'user', content: 'a\ud800' })).message.content, 'a\ufffd');
  });

  testSearch(t, open);
}

function testSearch(t: Test, open: (t: Test) => Promise<Bed>): void {
  const found = async ({ service }: Bed, text: string) =>
    (await service.search(ann, text)).map((hit) => hit.messageId ?? 'title');

  t.test('every word must be there, as the beginning of a word, whatever its case and accents', async (t) => {
    const bed = await open(t);
    await fill(bed.service, ann, 'c', ['Der Müller mahlt', 'the miller grinds corn', 'Straße ΟΔΟΣ', 'naïve café']);
    t.strictSame(await found(bed, 'MULLER'), ['m1']);
    t.strictSame(await found(bed, 'm'), ['m2', 'm1']);
    t.strictSame(await found(bed, 'gri mill'), ['m2']);
    t.strictSame(await found(bed, 'grinds wheat'), []);
    t.strictSame(await found(bed, 'STRASSE οδο'), ['m3']);
    t.strictSame(await found(bed, 'café'), ['m4']);
    t.strictSame(await found(bed, 'bout'), []);
    t.strictSame(await found(bed, '  -- '), []);
  });

  t.test('scripts without spaces are found anywhere', async (t) => {
    const bed = await open(t);
    await fill(bed.service, ann, 'c', ['東京都に住む', '京都へ行く', 'ภาษาไทยง่าย', 'ガラス', '한국어 문장']);
    t.strictSame(await found(bed, '京都'), ['m2', 'm1']);
    t.strictSame(await found(bed, '東京都'), ['m1']);
    t.strictSame(await found(bed, '都'), ['m2', 'm1']);
    t.strictSame(await found(bed, 'ไทย'), ['m3']);
    t.strictSame(await found(bed, 'ｶﾞﾗｽ'), ['m4']);
    t.strictSame(await found(bed, '한국'), ['m5']);
    t.strictSame(await found(bed, '京都住む'), [], 'pairs that stand apart are no run');
  });

  t.test('a title is found until it is changed', async (t) => {
    const bed = await open(t);
    await fill(bed.service, ann, 'c', []);
    t.match(await bed.service.search(ann, 'about'), [
      { conversationId: 'c', role: 'title', snippet: 'About c', messageId: undefined },
    ]);
    await bed.service.update(ann, 'c', { title: 'Renamed' });
    t.strictSame([await found(bed, 'about'), await found(bed, 'renam')], [[], ['title']]);
  });

  t.test('at most 50 hits, the newest, whichever conversation they are in', async (t) => {
    const bed = await open(t);
    await fill(
      bed.service,
      ann,
      'old',
      Array.from({ length: 70 }, (_, i) => `apple ${i}`),
    );
    await fill(
      bed.service,
      ann,
      'new',
      Array.from({ length: 30 }, (_, i) => `apple ${i}`),
    );
    await bed.service.append(ann, 'old', { id: 'last', role: 'user', content: 'apple' });
    const hits = await bed.service.search(ann, 'apple');
    t.equal(hits.length, 50);
    t.strictSame(
      hits.map(({ ts }) => ts),
      hits.map(({ ts }) => ts).sort((a, b) => b - a),
    );
    t.match(hits[0], { conversationId: 'old', messageId: 'last' });
    t.strictSame(
      hits.map(({ conversationId }) => conversationId),
      ['old', ...Array(30).fill('new'), ...Array(19).fill('old')],
    );
  });
}

onEachDatabase(testConversationContract);

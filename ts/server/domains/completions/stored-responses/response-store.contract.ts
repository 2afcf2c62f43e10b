/** Tests stored responses on both databases. Each test opens a database of its own. */
import type { Test } from 'tap';
import { createStorage, type Storage, systemScope, tenantScope } from '../../../platform/storage/index.ts';
import { type NewDatabase, onEachDatabase } from '../../../platform/storage/test-support/each-database.ts';
import { scriptedUsage } from '../../inference/test-support/scripted-engine.ts';
import type { EventBatch } from '../event-streams/event-batch.ts';
import { BackgroundStore, type ResponseRun } from './background-store.ts';
import type { KeptItem, NewResponse } from './kept-response.ts';
import { responseMigrations } from './migrations.ts';
import { maxChainBytes, maxChainLength } from './response-chain.ts';
import { ResponseStore } from './response-store.ts';
import { RetentionStore } from './retention-store.ts';

const red = tenantScope('red');
const blue = tenantScope('blue');

function item(id: string, text = id): KeptItem {
  return { id, type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
}

function newResponse(id: string, members: Partial<NewResponse> = {}): NewResponse {
  const head = { id, object: 'response' };
  return {
    id,
    model: 'm',
    owner: undefined,
    previousId: undefined,
    head,
    input: [item(`in_${id}`)],
    createdAt: 5,
    expiresAt: 100,
    ...members,
  };
}

const completed = (id: string) => ({ status: 'completed', output: [item(`out_${id}`)], usage: scriptedUsage }) as const;

interface OpenStores {
  storage: Storage;
  store: ResponseStore;
  background: BackgroundStore;
}

function testResponseStoreContract(t: Test, newDatabase: NewDatabase): void {
  async function open(t: Test): Promise<OpenStores> {
    const database = await newDatabase();
    const modules = [{ module: 'inference', migrations: responseMigrations }];
    const storage = createStorage({ url: database.url, modules });
    t.teardown(async () => {
      await storage.close();
      await database.remove();
    });
    await storage.open();
    return { storage, store: new ResponseStore(storage), background: new BackgroundStore(storage) };
  }

  /** Keeps `ids`, of which each continues the one before. */
  async function keepChain(store: ResponseStore, ids: readonly string[], members: Partial<NewResponse> = {}): Promise<void> {
    for (const [index, id] of ids.entries())
      await store.insert(red, newResponse(id, { previousId: ids[index - 1], ...members }), completed(id));
  }

  t.test('a response is found by its tenant as it was kept, and erased by it alone', async (t) => {
    const { store } = await open(t);
    await store.insert(red, newResponse('a', { owner: 'ann' }), completed('a'));
    t.strictSame(await store.find(red, 'a'), {
      id: 'a',
      status: 'completed',
      head: { id: 'a', object: 'response' },
      output: [item('out_a')],
      usage: scriptedUsage,
      error: undefined,
      isBackground: false,
      jobId: undefined,
      endSequence: 0,
      createdAt: 5,
    });
    t.strictSame(await store.findInput(red, 'a'), [item('in_a')]);
    t.equal(await store.find(blue, 'a'), undefined);
    t.equal(await store.findInput(blue, 'a'), undefined);
    t.strictSame(await store.findChain(blue, 'a'), { links: [], missingId: 'a', isTooLong: false });
    t.equal(await store.delete(blue, 'a'), false);
    t.equal(await store.delete(red, 'a'), true);
    t.equal(await store.delete(red, 'a'), false);
    t.equal(await store.find(red, 'a'), undefined);
  });

  t.test('text is kept whatever characters it has', async (t) => {
    const { store } = await open(t);
    const text = 'NUL \0, half a pair \ud800, quotes "\\", 漢字 🦙';
    await store.insert(red, newResponse('a', { input: [item('in_a', text)] }), completed('a'));
    t.strictSame(await store.findInput(red, 'a'), [item('in_a', text)]);
  });

  t.test('a chain is read from its beginning, and two may continue one response', async (t) => {
    const { store } = await open(t);
    await keepChain(store, ['a', 'b', 'c']);
    await store.insert(red, newResponse('d', { previousId: 'b' }), completed('d'));
    const idsOf = async (id: string) => (await store.findChain(red, id)).links.map((link) => link.id);
    t.strictSame(await idsOf('c'), ['a', 'b', 'c']);
    t.strictSame(await idsOf('d'), ['a', 'b', 'd']);
    const chain = await store.findChain(red, 'b');
    t.strictSame(chain, {
      links: ['a', 'b'].map((id) => ({ id, status: 'completed', input: [item(`in_${id}`)], output: [item(`out_${id}`)] })),
      missingId: undefined,
      isTooLong: false,
    });
  });

  t.test('a chain whose middle was deleted says what is missing', async (t) => {
    const { store } = await open(t);
    await keepChain(store, ['a', 'b', 'c']);
    await store.delete(red, 'b');
    const { links, missingId, isTooLong } = await store.findChain(red, 'c');
    t.strictSame([links.map(({ id }) => id), missingId, isTooLong], [['c'], 'b', false]);
  });

  t.test('a chain does not lead to another tenant, and one that leads in a circle ends', async (t) => {
    const { store } = await open(t);
    await store.insert(blue, newResponse('foreign'), completed('foreign'));
    await store.insert(red, newResponse('a', { previousId: 'foreign' }), completed('a'));
    t.match(await store.findChain(red, 'a'), { links: [{ id: 'a' }], missingId: 'foreign' });
    await store.insert(red, newResponse('b', { previousId: 'c' }), completed('b'));
    await store.insert(red, newResponse('c', { previousId: 'b' }), completed('c'));
    const { links, isTooLong } = await store.findChain(red, 'b');
    t.strictSame([links.length, isTooLong], [maxChainLength, true]);
  });

  t.test('a chain that is too long or too large says so, and what is beyond is not read', async (t) => {
    const { store } = await open(t);
    const ids = Array.from({ length: maxChainLength + 1 }, (_, index) => `r${index}`);
    for (let start = 0; start < ids.length; start += 200)
      await Promise.all(
        ids.slice(start, start + 200).map((id, index) => {
          const previousId = ids[start + index - 1];
          return store.insert(red, newResponse(id, { previousId }), completed(id));
        }),
      );
    const longest = await store.findChain(red, `r${maxChainLength - 1}`);
    t.strictSame([longest.links.length, longest.isTooLong], [maxChainLength, false]);
    const tooLong = await store.findChain(red, `r${maxChainLength}`);
    t.strictSame([tooLong.links.length, tooLong.links[0]?.id, tooLong.isTooLong], [maxChainLength, 'r1', true]);
    const input = [item('large', 'x'.repeat(maxChainBytes / 2))];
    await keepChain(store, ['x', 'y', 'z'], { input });
    const tooLarge = await store.findChain(red, 'z');
    t.strictSame([tooLarge.links.map(({ id }) => id), tooLarge.isTooLong], [['z'], true]);
  });

  t.test('expired responses are deleted, except those that another one continues', async (t) => {
    const { storage, store } = await open(t);
    const retention = new RetentionStore(storage);
    await keepChain(store, ['a', 'b', 'c']);
    await store.insert(red, newResponse('d', { previousId: 'b', expiresAt: 200 }), completed('d'));
    await store.insert(blue, newResponse('e'), completed('e'));
    t.equal(await retention.deleteExpired(systemScope(), 100), 0);
    t.equal(await retention.deleteExpired(systemScope(), 150), 2, 'the end of one conversation, and one of another tenant');
    t.match(await store.find(red, 'a'), { id: 'a' });
    t.equal(await retention.deleteExpired(systemScope(), 201), 3, 'the conversation from its end to its beginning');
    t.equal(await store.find(red, 'a'), undefined);
  });

  testBackgroundStore(t, open);
}

function batch(first: number, last = first): EventBatch {
  const numbers = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  return { first, last, frames: numbers.map((number) => `data: ${number}\n\n`).join('') };
}

function testBackgroundStore(t: Test, open: (t: Test) => Promise<OpenStores>): void {
  async function begin(background: BackgroundStore, id: string): Promise<ResponseRun> {
    const run = await background.begin(red, id, 'job');
    if (run === undefined) throw new Error(`${id} cannot begin`);
    return run;
  }

  const framesBehind = async (background: BackgroundStore, id: string, after: number) =>
    (await background.readAfter(red, id, after)).batches.map(({ frames }) => frames).join('');

  t.test('a run gets what was stored, its events are read in order, and its end closes it', async (t) => {
    const { store, background } = await open(t);
    await background.insert(red, newResponse('a', { previousId: 'z' }), { timeoutMs: 5 }, batch(0, 1).frames);
    t.match(await store.find(red, 'a'), { status: 'queued', isBackground: true, jobId: undefined });
    await background.setJob(red, 'a', 'job');
    const run = await begin(background, 'a');
    t.match(run, { run: 1, input: [item('in_a')], previousId: 'z', request: { timeoutMs: 5 } });
    t.equal(await background.append(run, batch(2, 4)), true);
    t.equal(await framesBehind(background, 'a', -1), batch(0, 4).frames);
    t.equal(await background.finish(run, completed('a'), 7, batch(5, 6)), true);
    t.equal(await framesBehind(background, 'a', 4), batch(5, 6).frames);
    t.match((await background.readAfter(red, 'a', 6)).response, {
      status: 'completed',
      endSequence: 7,
      jobId: 'job',
      output: [{ id: 'out_a' }],
    });
    t.equal(await background.append(run, batch(8)), false);
    t.equal(await background.finish(run, completed('a'), 9, undefined), false);
    t.equal(await background.begin(red, 'a', 'job'), undefined);
    t.equal(await framesBehind(background, 'a', -1), batch(0, 6).frames, 'a run that comes too late erases nothing');
    t.match(await background.readAfter(blue, 'a', -1), { response: undefined, batches: [] });
  });

  t.test('a run that begins anew erases the events of the one before, which writes nothing any more', async (t) => {
    const { background } = await open(t);
    await background.insert(red, newResponse('a'), {}, batch(0, 1).frames);
    const first = await begin(background, 'a');
    await background.append(first, batch(2, 4));
    const second = await begin(background, 'a');
    t.equal(second.run, 2);
    t.equal(await framesBehind(background, 'a', -1), batch(0, 1).frames);
    t.equal(await background.append(first, batch(5)), false);
    t.equal(await background.finish(first, completed('a'), 6, batch(5)), false);
    t.equal(await background.append(second, batch(100_000_000)), true);
  });

  t.test('what was cancelled or deleted takes no events and has no end', async (t) => {
    const { store, background } = await open(t);
    for (const id of ['a', 'b']) await background.insert(red, newResponse(id), {}, batch(0, 1).frames);
    const [a, b] = [await begin(background, 'a'), await begin(background, 'b')];
    t.equal(await background.cancel(blue, 'a'), false);
    t.equal(await background.cancel(red, 'a'), true);
    t.equal(await background.cancel(red, 'a'), false);
    await store.delete(red, 'b');
    for (const run of [a, b]) {
      t.equal(await background.append(run, batch(2)), false);
      t.equal(await background.finish(run, completed(run.id), 3, batch(2)), false);
    }
    t.match(await store.find(red, 'a'), { status: 'cancelled', output: [] });
    t.match(await background.readAfter(red, 'b', -1), { response: undefined, batches: [] }, 'its events are erased as well');
  });

  t.test('a response whose job is gone fails behind every event that it can have had', async (t) => {
    const { store, background } = await open(t);
    await background.insert(red, newResponse('a'), {}, batch(0, 1).frames);
    await begin(background, 'a');
    await background.fail(red, 'a', { code: 'internal', message: 'Gone.' });
    t.match(await store.find(red, 'a'), { status: 'failed', error: { code: 'internal' }, endSequence: 200_000_000 });
  });

  t.test('many batches are read a page at a time', async (t) => {
    const { background } = await open(t);
    await background.insert(red, newResponse('a'), {}, batch(0, 1).frames);
    const run = await begin(background, 'a');
    for (let sequence = 2; sequence < 40; sequence++) await background.append(run, batch(sequence));
    let text = '';
    for (let after = -1; after < 39; ) {
      const { batches } = await background.readAfter(red, 'a', after);
      text += batches.map(({ frames }) => frames).join('');
      after = batches.at(-1)?.last ?? 39;
    }
    t.equal(text, batch(0, 39).frames);
  });
}

onEachDatabase(testResponseStoreContract);

/** Memories over HTTP on both databases: added, superseded, corrected, searched, recalled and forgotten. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { until } from '../../platform/jobs/test-support/open-jobs.ts';
import { systemScope } from '../../platform/storage/index.ts';
import { type Dialect, type NewDatabase, newUrl, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { scriptedService, wordModel } from '../retrieval/test-support/word-model.ts';
import { admin, ann, callerOf, openMemory } from './test-support/memory-bed.ts';

const bob = callerOf('bob');
const elsewhere = callerOf('ann2', 'admin', { tenant: 'blue' });

function testMemories(t: Test, newDatabase: NewDatabase, dialect: Dialect): void {
  const open = async (t: Test, options = {}) => await openMemory(t, { databaseUrl: await newUrl(t, newDatabase), ...options });

  t.test('a memory is added, read, corrected and forgotten by whose it is, and by nobody else', async (t) => {
    const bed = await open(t);
    const made = await bed.add('I like black tea', {
      kind: 'preference',
      subject: 'drinks',
      conversation_id: 'c1',
      message_id: 'm1',
    });
    t.match(made, {
      id: /^mem_/,
      owner: 'me',
      kind: 'preference',
      text: 'I like black tea',
      subject: 'drinks',
      origins: [{ type: 'conversation', conversation_id: 'c1', message_id: 'm1' }],
      trust: 'stated',
      valid_to: null,
      superseded_by: null,
      pinned: false,
      state: 'current',
    });
    const path = `memories/${made.id}`;
    t.match((await bed.ask('GET', path)).body, { text: 'I like black tea', history: [] });
    for (const stranger of [bob, admin, elsewhere]) {
      t.match(await bed.ask('GET', path, undefined, stranger), { status: 404, body: { error: 'memory_not_found' } });
      t.match(await bed.ask('PATCH', path, { text: 'x y z' }, stranger), { status: 404 });
      t.match(await bed.ask('DELETE', path, undefined, stranger), { status: 404 });
      t.strictSame(await bed.textsOf('memories', undefined, stranger), []);
      t.strictSame(await bed.textsOf('memories/search', { query: 'black tea' }, stranger), []);
      t.strictSame((await bed.recall('black tea', stranger)).memories, []);
    }
    const pinned = await bed.ask('PATCH', path, { pinned: true });
    t.match(pinned, { status: 200, body: { pinned: true } });
    t.match(await bed.ask('PATCH', path, { text: 'I like green tea' }), {
      status: 200,
      body: { text: 'I like green tea', id: made.id },
    });
    t.strictSame(await bed.textsOf('memories/search', { query: 'green tea' }), ['I like green tea']);
    t.match((await bed.ask('GET', path)).body.history, [
      { action: 'edited', before: { pinned: false }, after: { pinned: true } },
      { action: 'edited', before: { text: 'I like black tea' }, after: { text: 'I like green tea' } },
    ]);
    t.match(await bed.ask('DELETE', path), { status: 200, body: { deleted: 1 } });
    t.match(await bed.ask('GET', path), { status: 404 });
    t.strictSame(await bed.textsOf('memories/search', { query: 'green tea' }), []);
    t.strictSame((await bed.recall('green tea')).memories, []);
    t.match(bed.acts, [{ action: 'memory.forget', target: made.id }]);
  });

  t.test('a fact that is said again is one memory, and a changed one supersedes what it contradicts alone', async (t) => {
    const bed = await open(t);
    const first = await bed.add('I live in Berlin');
    const again = await bed.add('I live in Berlin.', { conversation_id: 'c2' });
    t.equal(again.id, first.id);
    t.match(again, { strength: 2, origins: [{ type: 'api' }, { type: 'conversation', conversation_id: 'c2' }] });
    const other = await bed.add('My favourite colour is blue');
    await bed.add('Anna lives in Rome');
    const moved = await bed.add('I moved to Munich');
    t.same(
      new Set(await bed.textsOf('memories')),
      new Set(['I moved to Munich', 'Anna lives in Rome', 'My favourite colour is blue']),
    );
    const old = (await bed.ask('GET', `memories/${first.id}`)).body;
    t.match(old, { state: 'superseded', superseded_by: moved.id, valid_to: moved.valid_from });
    t.match(old.history, [{ action: 'superseded', after: { superseded_by: moved.id, state: 'superseded' } }]);
    t.ok((await bed.textsOf('memories?include=superseded')).includes('I live in Berlin'));
    t.match((await bed.ask('GET', `memories/${other.id}`)).body, { state: 'current' }, 'unrelated facts stay');
    t.notOk((await bed.textsOf('memories/search', { query: 'Where do I live? Berlin?' })).includes('I live in Berlin'));
    const earlier = await bed.add('I lived in Oslo, I live in Oslo', { valid_from: '2001-01-01T00:00:00Z' });
    t.equal(earlier.state, 'current', 'what no rule reads contradicts nothing');
    const late = await bed.add('I live in Paris', { valid_from: '2001-01-01T00:00:00Z' });
    t.match(late, { state: 'superseded', superseded_by: moved.id }, 'what held earlier is not current because it was said later');
    const pin = await bed.add('My budget is 100 euros');
    await bed.ask('PATCH', `memories/${pin.id}`, { pinned: true });
    await bed.add('My budget is 200 euros');
    t.match((await bed.ask('GET', `memories/${pin.id}`)).body, { state: 'current' }, 'what is pinned stays');
  });

  t.test('memories of the tenant are made by those who may, and read by all of it', async (t) => {
    const bed = await open(t);
    const given = { text: 'The canteen opens at noon', owner: 'tenant' };
    t.match(await bed.ask('POST', 'memories', given), { status: 403, body: { error: 'tenant_memory_denied', role: 'admin' } });
    t.match(await bed.ask('POST', 'memories', given, callerOf('dev', 'developer')), { status: 403 });
    const made = await bed.ask('POST', 'memories', given, admin);
    t.match(made, { status: 201, body: { owner: 'tenant' } });
    t.strictSame(await bed.textsOf('memories/search', { query: 'canteen' }, bob), [given.text]);
    t.match(await bed.recall('When does the canteen open?', bob), {
      memories: [{ text: given.text, isOfTenant: true }],
      isOfOthers: true,
    });
    t.match(await bed.ask('DELETE', `memories/${made.body.id}`, undefined, bob), { status: 403 });
    t.match(await bed.ask('PATCH', `memories/${made.body.id}`, { pinned: true }, bob), { status: 403 });
    t.strictSame(await bed.textsOf('memories', undefined, elsewhere), []);
    const open2 = await open(t, { settings: { 'memory.tenant_writers': 'developer' } });
    t.match(await open2.ask('POST', 'memories', given, callerOf('dev', 'developer')), { status: 201 });
  });

  t.test('an administrator forgets all memories of one account or of the tenant', async (t) => {
    const bed = await open(t);
    for (const text of ['Tea is good', 'Coffee is better']) await bed.add(text);
    await bed.add('Bob likes rice', {}, bob);
    await bed.ask('POST', 'memories', { text: 'The house is green', owner: 'tenant' }, admin);
    t.match(await bed.ask('DELETE', 'memories?owner=ann'), { status: 403, body: { error: 'forbidden' } });
    t.match(await bed.ask('DELETE', 'memories', undefined, admin), { status: 400 });
    t.match(await bed.ask('DELETE', 'memories?owner=ann', undefined, elsewhere), { status: 200, body: { deleted: 0 } });
    t.match(await bed.ask('DELETE', 'memories?owner=ann', undefined, admin), { status: 200, body: { deleted: 2 } });
    t.strictSame(await bed.textsOf('memories'), ['The house is green']);
    t.strictSame(await bed.textsOf('memories/search', { query: 'tea coffee' }), []);
    t.strictSame(await bed.textsOf('memories', undefined, bob), ['The house is green', 'Bob likes rice']);
    t.match(await bed.ask('DELETE', 'memories?owner=tenant', undefined, admin), { body: { deleted: 1 } });
    t.match(bed.acts.slice(-1), [{ action: 'memory.delete_all', target: 'tenant', detail: { deleted: 1 } }]);
    t.notMatch(JSON.stringify(bed.acts), /green|Coffee/, 'the audit log has no text');
  });

  t.test('recall finds what the question is about, each statement once, and in bounds', async (t) => {
    const bed = await open(t);
    await bed.add('My sister Clara plays the violin in Dresden');
    await bed.add('The user lives in Berlin', { kind: 'fact' });
    await bed.add('I live in Berlin', { kind: 'episode' });
    await bed.add('Berlin has a large zoo', { kind: 'summary' });
    const { memories, note } = await bed.recall('Does Clara play the violin?');
    t.equal(note, undefined);
    t.match(memories[0], { text: 'My sister Clara plays the violin in Dresden' });
    t.strictSame((await bed.recall('Quarterly taxation of zinc?')).memories, []);
    const where = await bed.recall('Who lives in Berlin?');
    t.equal(where.memories.filter(({ text }) => text.includes('live')).length, 1, 'what says the same is recalled once');
    t.equal((await bed.recall('Berlin', ann, { max: 1 })).memories.length, 1);
    t.strictSame(
      (await bed.recall('Berlin', ann, { kinds: ['summary'] })).memories.map(({ text }) => text),
      ['Berlin has a large zoo'],
    );
    const id = memories[0]?.id;
    await until(
      () => bed.ask('GET', `memories/${id}`),
      ({ body }) => body.strength > 1,
    );
    const ended = await bed.add('The fair in Leipzig is open');
    await bed.ask('PATCH', `memories/${ended.id}`, { valid_from: '2020-01-01T00:00:00Z', valid_to: '2021-01-01T00:00:00Z' });
    t.strictSame(
      (await bed.recall('Is the fair in Leipzig open?')).memories.filter(({ text }) => text === ended.text),
      [],
    );
    const coming = await bed.ask('PATCH', `memories/${ended.id}`, { valid_to: null, valid_from: '2900-01-01T00:00:00Z' });
    t.equal(coming.status, 200);
    t.strictSame(
      (await bed.recall('Is the fair in Leipzig open?')).memories.filter(({ text }) => text === ended.text),
      [],
    );
  });

  t.test('a chat that would wait too long goes on without memories, and says so', async (t) => {
    const bed = await open(t, { settings: { 'memory.recall_ms': 1 } });
    await bed.add('Clara plays the violin');
    const gate = Promise.withResolvers<void>();
    bed.model.pause = gate.promise.then(() => undefined);
    const waiting = bed.recall('Clara');
    gate.resolve();
    // One millisecond may be enough on a fast machine: then the search was made.
    const { memories, note } = await waiting;
    t.ok(note === undefined ? memories.length === 1 : memories.length === 0);
    const broken = wordModel();
    const other = await open(t, { model: broken });
    await other.add('Clara plays the violin');
    broken.failure = Object.assign(new Error('the model is gone'), {}) as never;
    t.match(await other.recall('Clara'), { memories: [], note: /failed/ });
    t.ok(scriptedService(broken));
  });

  t.test('secrets, wrong values and too many memories are refused', async (t) => {
    const bed = await open(t, { settings: { 'memory.most_memories': 2 } });
    for (const text of ['My password is hunter2', 'Das Passwort für das WLAN lautet geheim', 'The PIN of my card is 1234'])
      t.match(await bed.ask('POST', 'memories', { text }), { status: 422, body: { error: 'memory_is_secret' } }, text);
    t.match(await bed.ask('POST', 'memories', { text: 'My password: hunter2hunter2' }), {
      status: 422,
      body: { error: 'memory_is_secret' },
    });
    for (const [body, param] of [
      [{ text: 7 }, 'text'],
      [{ text: 'x', kind: 'dream' }, 'kind'],
      [{ text: 'x', owner: 'bob' }, 'owner'],
      [{ text: 'x', valid_from: 'soon' }, 'valid_from'],
      [{ text: 'x', message_id: '../x' }, 'message_id'],
      [{ text: ' ' }, 'text'],
    ] as const)
      t.match(await bed.ask('POST', 'memories', body), { status: 400, body: { param } }, JSON.stringify(body));
    await bed.add('One is here');
    const two = await bed.add('Two are here');
    t.match(await bed.ask('POST', 'memories', { text: 'Three are here' }), { status: 409, body: { error: 'memories_full' } });
    const dates = { valid_from: '2020-01-01T00:00:00Z', valid_to: '2019-01-01T00:00:00Z' };
    t.match(await bed.ask('PATCH', `memories/${two.id}`, dates), { status: 400, body: { param: 'valid_to' } });
    t.match(await bed.ask('PATCH', `memories/${two.id}`, { text: 'token: ghp_abcdefghijklmnopqrstuvwxyz0123456789' }), {
      status: 422,
    });
    t.match(await bed.ask('GET', 'memories?limit=1'), { body: { data: [{ text: 'Two are here' }], next: two.id } });
    t.match(await bed.ask('GET', `memories?limit=1&after=${two.id}`), { body: { data: [{ text: 'One is here' }] } });
  });

  t.test('what an account wants of its memory is kept', async (t) => {
    const bed = await open(t);
    t.match(await bed.ask('GET', 'settings'), { status: 200, body: { recall: 'off' } });
    t.equal(await bed.api.recallsByItself(ann), false);
    t.match(await bed.ask('PUT', 'settings', { recall: 1 }), { status: 400, body: { param: 'recall' } });
    t.match(await bed.ask('PUT', 'settings', { recall: 'on' }), { status: 200 });
    t.equal(await bed.api.recallsByItself(ann), true);
    t.equal(await bed.api.recallsByItself(bob), false);
  });

  t.test('nothing stays of an account or a tenant that is deleted', async (t) => {
    const bed = await open(t);
    await bed.add('Ann knows it');
    await bed.ask('PUT', 'settings', { recall: 'on' });
    const forgotten = await bed.add('Ann forgets it', { message_id: 'm' });
    await bed.ask('DELETE', `memories/${forgotten.id}`);
    await bed.add('Bob knows it', {}, bob);
    const { belongings } = bed.module(await import('./index.ts').then(({ memory }) => memory));
    await belongings?.eraseAccount?.(systemScope(), 'ann');
    const rows = await bed.storage
      .access<Record<string, Record<string, unknown>>>()
      .read(systemScope(), async (db) => [
        ...(await db.selectFrom('memories').select('owner').execute()),
        ...(await db.selectFrom('memory_collections').select('owner').execute()),
        ...(await db.selectFrom('memory_forgotten').select('owner').execute()),
        ...(await db.selectFrom('memory_preferences').select('owner').execute()),
      ]);
    t.same(new Set(rows.map(({ owner }) => owner)), new Set(['user:bob']));
    t.strictSame(await bed.textsOf('memories/search', { query: 'Who knows it?' }), []);
  });

  if (dialect === 'sqlite')
    t.test('the bytes of a forgotten memory are in no file of the node', async (t) => {
      const bed = await openMemory(t);
      const mark = 'Zwölfbäumige Quittenmarmelade';
      const made = await bed.add(`I like ${mark}`);
      await bed.ask('PATCH', `memories/${made.id}`, { text: `I love ${mark}` });
      await bed.recall(mark);
      const holders = () => filesBelow(bed.dataDir).filter((path) => readFileSync(path).includes(mark));
      t.not(holders().length, 0, 'the test finds what is there');
      await bed.ask('DELETE', `memories/${made.id}`);
      await until(
        async () => holders(),
        (found) => found.length === 0,
        60_000,
      );
      t.strictSame(holders(), []);
    });
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}

onEachDatabase(testMemories, { timeoutMs: 240_000 });

/** Memory files over HTTP on both databases: exported, listed, merged, loaded, pinned, and each section only for those whose it is. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { Principal } from '../../platform/http/principal.ts';
import { until } from '../../platform/jobs/test-support/open-jobs.ts';
import { SeriesRegistry } from '../../platform/series/series-registry.ts';
import { systemScope, tenantScope } from '../../platform/storage/index.ts';
import { type NewDatabase, newUrl, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { readMemoryFile, type SectionData, writeMemoryFile } from './files/memory-file.ts';
import { memory } from './index.ts';
import { admin, ann, callerOf, openMemory } from './test-support/memory-bed.ts';

const bob = callerOf('bob');
const dev = callerOf('dev', 'developer');
const root = callerOf('chief', 'superadmin');
const elsewhere = callerOf('eve', 'superadmin', { tenant: 'blue' });
const MASTER = 'cluster/storage/system-exmm';

async function openFiles(t: Test, newDatabase: NewDatabase) {
  const series = new SeriesRegistry();
  series.register({
    name: 'load',
    list: async () => [{ name: 'load.hours', unit: 'requests' }],
    read: async () => Array.from({ length: 40 }, (_, i) => ({ ts: i * 3_600_000, value: i % 7 })),
  });
  const bed = await openMemory(t, { databaseUrl: await newUrl(t, newDatabase), series });
  const folder = join(bed.dataDir, 'memory', 'red');
  const call = (method: string, path: string, body?: object, as: Principal = ann) =>
    bed.send(method, `/api/v1/${path}`, { headers: { 'x-as': JSON.stringify(as) }, body });
  const ended = async (begun: Awaited<ReturnType<typeof call>>) => {
    if (begun.status !== 202) throw new Error(`${begun.status} ${begun.text}`);
    return await until(
      () => bed.jobs.get(tenantScope('red'), begun.body.job_id),
      ({ state }) => state === 'done' || state === 'failed',
      60_000,
    );
  };
  const exported = async (file: string, more: object = {}, as: Principal = ann) =>
    await ended(await call('POST', 'exmm/export', { file, ...more }, as));
  const load = (file: string, mode: string, as: Principal = ann) => call('POST', 'retrieve/load', { file, mode }, as);
  const sectionsOf = async (file: string, as: Principal = ann) => {
    const answers = await Promise.all(['models', 'shard'].map((list) => call('GET', `exmm/${list}?file=${file}`, undefined, as)));
    return answers.flatMap(({ body }) => body.data.map(({ section }: { section: string }) => section));
  };
  return { ...bed, folder, call, ended, exported, load, sectionsOf };
}

const learned: SectionData = { kind: 'world_model', name: 'series', bytes: new Uint8Array([1]) };

/** Deletes an account of which damaged files have something: nothing of it stays, and what others have in them whole does. */
async function eraseFromDamaged(t: Test, bed: Awaited<ReturnType<typeof openFiles>>): Promise<void> {
  const section = (name: string, text: string): SectionData => ({
    kind: 'episodes',
    name,
    bytes: new TextEncoder().encode(text),
  });
  const sections = [section('user:ann', 'Quince one'), section('user:bob', 'Rice'), section('user:bob#2', 'Millet'), learned];
  const damaged = (name: string, change: (bytes: Buffer) => Buffer): void => {
    const path = join(bed.folder, name);
    writeMemoryFile(path, sections, 1);
    writeFileSync(path, change(readFileSync(path)));
  };
  const flippedAt = (text: string) => (bytes: Buffer) => {
    const at = bytes.indexOf(text);
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    return bytes;
  };
  damaged('hers.exmm', flippedAt('Quince'));
  damaged('his.exmm', flippedAt('Rice'));
  damaged('his.exmm.pre-consolidate.bak', flippedAt('Millet'));
  damaged('directory.exmm', flippedAt('user:ann'));
  damaged('cut.exmm', (bytes) => bytes.subarray(0, bytes.length - 1));
  writeFileSync(join(bed.folder, 'half.exmm.77.tmp'), 'Quince');
  symlinkSync(join(bed.folder, 'hers.exmm'), join(bed.folder, 'link.exmm'));
  writeFileSync(join(bed.folder, 'notes.txt'), 'of the operator');
  await bed.module(memory).belongings?.eraseAccount?.(systemScope(), 'ann');
  t.strictSame(readdirSync(bed.folder), [
    'b.exmm',
    'hers.exmm',
    'his.exmm',
    'his.exmm.pre-consolidate.bak',
    'link.exmm',
    'notes.txt',
  ]);
  const textsOf = (name: string) => readMemoryFile(join(bed.folder, name)).map(({ bytes }) => new TextDecoder().decode(bytes));
  t.strictSame(textsOf('hers.exmm'), ['Rice', 'Millet', '\u0001']);
  t.strictSame(textsOf('his.exmm'), ['Millet', '\u0001']);
  t.strictSame(textsOf('his.exmm.pre-consolidate.bak'), ['Rice', '\u0001']);
  for (const name of readdirSync(bed.folder)) t.notOk(readFileSync(join(bed.folder, name)).includes('uince'), name);
}

function testFiles(t: Test, newDatabase: NewDatabase): void {
  t.test('memories are exported, seen by whose they are alone, and imported once', async (t) => {
    const bed = await openFiles(t, newDatabase);
    const tea = await bed.add('I like black tea', { kind: 'preference', subject: 'drinks' });
    const berlin = await bed.add('I live in Berlin');
    await bed.add('Bob likes rice', {}, bob);
    t.match(await bed.exported('ann.exmm'), { state: 'done', result: { file: 'ann.exmm', memories: 2 } });
    await bed.exported('ann.exmm', {}, bob);
    t.strictSame(await bed.sectionsOf('ann.exmm'), ['episodes:me', 'vectors:me']);
    await bed.exported('bob.exmm', {}, bob);
    const listed = (await bed.call('GET', 'exmm/models')).body.data;
    t.match(listed, [{ file: 'ann.exmm', pinned: false }]);
    t.equal(listed.length, 1, 'a file of another account is not listed');
    t.match(await bed.call('GET', 'exmm/shard?file=bob.exmm'), { status: 404, body: { error: 'memory_file_not_found' } });
    t.notMatch(readFileSync(join(bed.folder, 'ann.exmm'), 'latin1').slice(0, 300), /tea/);

    const forgotten = await bed.ask('DELETE', `memories/${tea.id}`);
    t.strictSame(forgotten.body, { deleted: 1, files: ['ann.exmm'] }, 'the answer names the files that still hold it');
    t.strictSame((await bed.ask('DELETE', `memories/${berlin.id}`)).body.files, ['ann.exmm']);
    const loaded = await bed.load('ann.exmm', 'import');
    t.match(loaded, {
      status: 200,
      body: {
        file: 'ann.exmm',
        sections: ['episodes:me', 'vectors:me'],
        loaded: 2,
        skipped: [{ section: 'vectors:me', reason: /made again/ }],
      },
    });
    const [back] = (await bed.ask('GET', 'memories')).body.data.filter(({ text }: { text: string }) => text.includes('tea'));
    t.match(back, { kind: 'preference', subject: 'drinks', trust: 'imported', origins: [{ type: 'import' }], strength: 1 });
    t.match((await bed.load('ann.exmm', 'import')).body, { loaded: 0, skipped: [{}, { reason: /already: 2/ }] });
    t.equal((await bed.ask('GET', 'memories')).body.data.length, 2, 'each is there once');
    t.match(await bed.recall('black tea'), { memories: [{ text: 'I like black tea' }], isOfOthers: true });
    await bed.exported('facts.exmm', { kinds: ['fact'] });
    t.equal((await bed.load('facts.exmm', 'import', bob)).status, 404, 'another account has nothing in it');
  });

  t.test('what a file said ends nothing that a person said, and secrets in it stay out', async (t) => {
    const bed = await openFiles(t, newDatabase);
    await bed.add('I live in Munich', { valid_from: '2001-01-01T00:00:00Z' });
    const said = (text: string, i: number) => ({
      id: `mem_0199a3b2-0000-7000-8000-00000000000${i}`,
      kind: 'fact',
      text,
      validFrom: Date.parse('2999-01-01'),
      recordedAt: 1,
    });
    const texts = ['I live in Berlin', 'My password is hunter2hunter2', 'Clara plays the violin', 'x'.repeat(1_001)];
    const bytes = new TextEncoder().encode(JSON.stringify(texts.map(said)));
    mkdirSync(bed.folder, { recursive: true });
    writeMemoryFile(join(bed.folder, 'a.exmm'), [{ kind: 'episodes', name: 'user:ann', bytes }], 1);
    for (const loaded of [2, 0]) t.match((await bed.load('a.exmm', 'import')).body, { loaded });
    t.strictSame(new Set(await bed.textsOf('memories')), new Set(['I live in Munich', 'Clara plays the violin']));
    const old = (await bed.ask('GET', 'memories?include=superseded')).body.data;
    t.match(
      old.find(({ text }: { text: string }) => text === 'I live in Berlin'),
      { state: 'superseded', trust: 'imported' },
    );
    await bed.add('I live in Rome', { valid_from: '2000-01-01T00:00:00Z' });
    const dreamt = await bed.ask('POST', 'dream', { steps: ['contradictions', 'duplicates'] });
    await until(
      () => bed.ask('GET', `dreams/${dreamt.body.dream_id}`),
      ({ body }) => body.ended_at !== null,
    );
    t.ok((await bed.textsOf('memories')).includes('I live in Munich'));
  });

  t.test('names that lead elsewhere and files of others answer as those that are not there', async (t) => {
    const bed = await openFiles(t, newDatabase);
    await bed.add('I like black tea');
    await bed.exported('ann.exmm');
    symlinkSync(join(bed.folder, 'ann.exmm'), join(bed.folder, 'link.exmm'));
    mkdirSync(join(bed.folder, 'folder.exmm'));
    const names = ['none.exmm', 'link.exmm', 'folder.exmm', '../red/ann.exmm', join(bed.folder, 'ann.exmm'), '..', 'ann'];
    const unknown = { status: 404, body: { error: 'memory_file_not_found' } };
    for (const file of names) {
      const named = `file=${encodeURIComponent(file)}`;
      for (const list of ['models', 'shard']) {
        t.match(await bed.call('GET', `exmm/${list}?${named}`), unknown, file);
        t.match(await bed.call('DELETE', `exmm/${list}?${named}&section=episodes:me`), unknown, file);
      }
      for (const mode of ['import', 'attach']) t.match(await bed.load(file, mode, admin), unknown, `${mode} ${file}`);
      t.match(await bed.call('POST', 'exmm/consolidate', { file }, dev), unknown, file);
      t.match(
        await bed.call('POST', 'exmm/consolidate', { file: 'ann.exmm', with: [file] }, { ...ann, roles: ['developer'] }),
        unknown,
      );
      t.match(await bed.call('PUT', MASTER, { file }, root), unknown, file);
    }
    for (const as of [bob, admin, elsewhere, dev]) t.match(await bed.load('ann.exmm', 'import', as), unknown);
    t.match(await bed.call('POST', 'exmm/export', { file: '../a.exmm' }), { status: 400, body: { param: 'file' } });
    t.match(await bed.call('POST', 'exmm/consolidate', { file: 'ann.exmm' }), { status: 403 });
    writeFileSync(join(bed.folder, 'bad.exmm'), 'SVC EXMM and no more');
    t.match(await bed.load('bad.exmm', 'import'), { status: 422, body: { error: 'memory_file_invalid' } });
    t.match(await bed.call('GET', 'exmm/models?file=bad.exmm'), { status: 422 });
    t.match(await bed.exported('bad.exmm'), { state: 'failed', error: { code: 'memory_file_invalid' } });
    const form = { kind: 'episodes', name: 'user:ann', bytes: new TextEncoder().encode('[{"text":1}]') } as const;
    writeMemoryFile(join(bed.folder, 'form.exmm'), [form], 1);
    t.match(await bed.load('form.exmm', 'import'), { status: 422, body: { error: 'memory_file_invalid' } });
  });

  t.test('a section is removed by those whose it is, and a file without one goes', async (t) => {
    const bed = await openFiles(t, newDatabase);
    await bed.add('I like black tea');
    await bed.exported('a.exmm');
    const path = join(bed.folder, 'a.exmm');
    writeMemoryFile(path, [...readMemoryFile(path), learned], 1);
    const remove = (section: string, as: Principal = ann) =>
      bed.call('DELETE', `exmm/shard?file=a.exmm&section=${encodeURIComponent(section)}`, undefined, as);
    t.match(await remove('world_model:series'), { status: 403, body: { role: 'developer' } });
    t.match(await remove('episodes:user:ann', bob), { status: 404, body: { error: 'memory_section_not_found' } });
    t.match(await remove('episodes:you'), { status: 404 });
    t.match(await remove('nothing:me'), { status: 400, body: { param: 'section' } });
    t.equal((await remove('vectors:me')).status, 204);
    t.equal((await remove('world_model:series', dev)).status, 204);
    t.strictSame(await bed.sectionsOf('a.exmm'), ['episodes:me']);
    t.equal((await remove('episodes:me')).status, 204);
    t.notOk(existsSync(path));
    t.match(bed.acts.at(-1), { action: 'memory.file_section_remove', target: 'a.exmm episodes:me' });
  });

  t.test('files are merged with all their sections, and the file from before lies beside', async (t) => {
    const bed = await openFiles(t, newDatabase);
    const both = { ...ann, roles: ['developer'] } as const;
    await bed.add('I like black tea');
    await bed.exported('a.exmm');
    const before = readFileSync(join(bed.folder, 'a.exmm'));
    await bed.add('I live in Berlin');
    await bed.exported('b.exmm');
    const path = join(bed.folder, 'b.exmm');
    writeMemoryFile(path, [...readMemoryFile(path), learned], 1);
    const merged = await bed.ended(await bed.call('POST', 'exmm/consolidate', { file: 'a.exmm', with: ['b.exmm'] }, both));
    t.match(merged, { state: 'done', result: { backup: 'a.exmm.pre-consolidate.bak' } });
    t.strictSame(readFileSync(join(bed.folder, 'a.exmm.pre-consolidate.bak')), before);
    const all = ['world_model:series', 'episodes:me', 'vectors:me', 'episodes:me#2', 'vectors:me#2'];
    t.strictSame(await bed.sectionsOf('a.exmm'), all);
    await bed.ended(await bed.call('POST', 'exmm/consolidate', { file: 'a.exmm', with: ['b.exmm'] }, both));
    t.strictSame(await bed.sectionsOf('a.exmm'), all, 'the same again adds nothing');
    t.strictSame(readFileSync(join(bed.folder, 'a.exmm.pre-consolidate.bak')), before, 'and keeps what was before');
    for (const { id } of (await bed.ask('GET', 'memories')).body.data)
      t.match((await bed.ask('DELETE', `memories/${id}`)).body.files, ['a.exmm'], id);
    t.match((await bed.load('a.exmm', 'import')).body, { loaded: 2 });
    await bed.exported('a.exmm');
    t.strictSame(
      await bed.sectionsOf('a.exmm'),
      ['world_model:series', 'episodes:me', 'vectors:me'],
      'an export replaces all parts',
    );
  });

  t.test('what an attached file has of the tenant is searched by all of it, until it is removed', async (t) => {
    const bed = await openFiles(t, newDatabase);
    const text = 'The canteen opens at noon';
    const made = await bed.ask('POST', 'memories', { text, owner: 'tenant' }, admin);
    await bed.add('I like black tea');
    t.match(await bed.call('POST', 'exmm/export', { file: 'all.exmm', owner: 'tenant' }), { status: 403 });
    await bed.exported('all.exmm', { owner: 'tenant' }, admin);
    await bed.exported('all.exmm');
    t.strictSame((await bed.ask('DELETE', `memories/${made.body.id}`, undefined, admin)).body.files, ['all.exmm']);
    t.strictSame(await bed.textsOf('memories/search', { query: 'canteen' }, bob), []);
    t.match(await bed.load('all.exmm', 'attach'), { status: 403, body: { error: 'tenant_memory_denied' } });
    const nEmbedded = bed.model.texts.length;
    t.match(await bed.load('all.exmm', 'attach', admin), { status: 200, body: { loaded: 1, skipped: [] } });
    t.ok(bed.model.texts.length - nEmbedded <= 2, 'the vectors of the file are used');
    for (const as of [bob, ann]) t.strictSame(await bed.textsOf('memories/search', { query: 'canteen' }, as), [text]);
    t.match(await bed.recall('When does the canteen open?', bob), { memories: [{ text, isOfTenant: true }], isOfOthers: true });
    t.strictSame(await bed.textsOf('memories/search', { query: 'canteen' }, elsewhere), []);
    t.strictSame(await bed.textsOf('memories/search', { query: 'black tea' }, bob), [], 'what is of one account stays theirs');
    t.strictSame(await bed.textsOf('memories', undefined, bob), [], 'it is found, and is nobody’s to change');
    await bed.load('all.exmm', 'attach', admin);
    t.equal((await bed.ask('POST', 'memories/search', { query: 'canteen' }, bob)).body.data.length, 1, 'once, however often');
    const removed = await bed.call('DELETE', 'exmm/shard?file=all.exmm&section=episodes:tenant', undefined, admin);
    t.equal(removed.status, 204);
    t.strictSame(await bed.textsOf('memories/search', { query: 'canteen' }, bob), []);
  });

  t.test('vectors of another model are refused, and a text without one is embedded', async (t) => {
    const bed = await openFiles(t, newDatabase);
    await bed.ask('POST', 'memories', { text: 'The canteen opens at noon', owner: 'tenant' }, admin);
    await bed.exported('all.exmm', { owner: 'tenant' }, admin);
    const path = join(bed.folder, 'all.exmm');
    const [episodes, vectors] = readMemoryFile(path) as [SectionData, SectionData];
    const named = (name: string) => {
      const json = new TextDecoder().decode(vectors.bytes.subarray(4)).match(/^\{.*?\]\}/)?.[0] ?? '';
      const facts = new TextEncoder().encode(json.replace('"words"', `"${name}"`));
      const bytes = new Uint8Array(4 + facts.length + 4 * 64);
      new DataView(bytes.buffer).setUint32(0, facts.length, true);
      bytes.set(facts, 4);
      bytes.set(vectors.bytes.subarray(4 + json.length), 4 + facts.length);
      return { ...vectors, bytes };
    };
    const mismatch = { status: 409, body: { error: 'embedding_dimension_mismatch' } };
    writeMemoryFile(path, [episodes, named('unknown')], 1);
    t.match(await bed.load('all.exmm', 'attach', admin), mismatch, 'a model that is not here');
    const turned = { ...vectors, bytes: vectors.bytes.slice() };
    turned.bytes.copyWithin(turned.bytes.length - 4 * 64, turned.bytes.length - 4 * 63);
    turned.bytes.set(vectors.bytes.subarray(-4 * 64, -4 * 63), turned.bytes.length - 4);
    writeMemoryFile(path, [episodes, turned], 1);
    t.match(await bed.load('all.exmm', 'attach', admin), mismatch, 'vectors that the model does not make of the texts');
    const long = { ...vectors, bytes: vectors.bytes.slice() };
    long.bytes.set(new Uint8Array(new Float32Array([9]).buffer), long.bytes.length - 4);
    writeMemoryFile(path, [episodes, long], 1);
    t.match(await bed.load('all.exmm', 'attach', admin), { status: 422 }, 'a vector that is longer than 1');
    bed.model.dimensions = 32;
    writeMemoryFile(path, [episodes, vectors], 1);
    t.match(await bed.load('all.exmm', 'attach', admin), mismatch, 'the model was replaced');
    writeMemoryFile(path, [episodes], 1);
    t.match(await bed.load('all.exmm', 'attach', admin), { status: 200, body: { loaded: 1 } });
  });

  t.test('a master memory is found in all tenants, and nobody changes its file', async (t) => {
    const bed = await openFiles(t, newDatabase);
    const text = 'The fire drill is in October';
    await bed.ask('POST', 'memories', { text, owner: 'tenant' }, admin);
    await bed.add('I like black tea');
    await bed.exported('all.exmm', { owner: 'tenant' }, admin);
    await bed.exported('all.exmm');
    t.match(await bed.call('GET', MASTER, undefined, admin), { status: 200, body: { pinned: false } });
    t.match(await bed.call('GET', MASTER, undefined, bob), { status: 403 });
    t.match(await bed.call('PUT', MASTER, { file: 'all.exmm' }, admin), { status: 403 });
    const wrong = { file: 'all.exmm', sha256: '0'.repeat(64) };
    t.match(await bed.call('PUT', MASTER, wrong, root), { status: 409, body: { error: 'memory_file_changed' } });
    const pinned = await bed.call('PUT', MASTER, { file: 'all.exmm' }, root);
    const sha256 = createHash('sha256')
      .update(readFileSync(join(bed.folder, 'all.exmm')))
      .digest('hex');
    t.strictSame([pinned.status, pinned.body], [200, { pinned: true, sha256, file: 'all.exmm' }]);
    t.strictSame((await bed.call('GET', MASTER, undefined, elsewhere)).body, { pinned: true, sha256 });
    t.match((await bed.call('GET', 'exmm/models', undefined, admin)).body.data, [{ file: 'all.exmm', pinned: true }]);
    const found = (query: string) => bed.textsOf('memories/search', { query }, elsewhere);
    t.strictSame(await found('When is the fire drill?'), [text]);
    t.strictSame(await found('black tea'), [], 'shared memories alone');
    t.match(await bed.recall('When is the fire drill?', elsewhere), { memories: [{ text, isOfTenant: true }] });
    t.strictSame(
      (await bed.recall('fire drill in October')).memories.map((one) => one.text),
      [text],
      'once beside the tenant’s own',
    );
    const refused = { status: 409, body: { error: 'memory_file_pinned' } };
    t.match(await bed.call('DELETE', 'exmm/shard?file=all.exmm&section=episodes:me'), refused);
    t.match(await bed.call('POST', 'exmm/export', { file: 'all.exmm' }), refused);
    t.match(await bed.call('POST', 'exmm/consolidate', { file: 'all.exmm' }, dev), refused);
    t.match(await bed.ask('POST', 'forecasts', { series: ['load.hours'], file: 'all.exmm' }, dev), refused);
    t.match(await bed.call('DELETE', MASTER, undefined, admin), { status: 403 });
    t.strictSame((await bed.call('DELETE', MASTER, undefined, root)).body, { pinned: false });
    t.strictSame(await found('fire drill'), []);
    t.equal((await bed.call('DELETE', 'exmm/shard?file=all.exmm&section=episodes:me')).status, 204);
  });

  t.test(
    'slots are learned in a dream, exported, foreseen by whose they are, and gone when something is forgotten',
    async (t) => {
      const bed = await openFiles(t, newDatabase);
      const topics = ['pears grow in the garden', 'trains leave the old station', 'bread bakes in the oven'];
      const made = [];
      for (let i = 0; i < 24; i++) {
        const valid_from = new Date(Date.UTC(2020, 0, 1 + i)).toISOString();
        made.push(await bed.add(`${topics[i % 3]} ${i}`, { valid_from }));
      }
      const dream = async () => {
        const { body } = await bed.ask('POST', 'dream', { steps: ['slots'] });
        return await until(
          () => bed.ask('GET', `dreams/${body.dream_id}`),
          (answer) => answer.body.ended_at !== null,
        );
      };
      const { report } = (await dream()).body;
      t.strictSame(report, { changed: {}, skipped: [], slots: 3 });
      t.match((await bed.exported('ann.exmm')).state, 'done');
      t.strictSame(await bed.sectionsOf('ann.exmm'), ['episodes:me', 'vectors:me', 'slots:me']);
      const rollout = (body: object, as: Principal = ann) =>
        bed.call('POST', 'worldmodel/rollout', { emm_path: 'ann.exmm', slots: [], horizon: 12, seed: 4, ...body }, as);
      const first = await rollout({});
      t.match(first, { status: 200, body: { method: 'successor', steps: [{ slot: Number, p: Number }] } });
      const drawn = first.body.steps.map(({ slot }: { slot: number }) => slot);
      const follows = drawn.filter((slot: number, i: number) => i >= 3 && slot === drawn[i - 3]).length;
      t.ok(follows >= 5, `the sequence goes on as it went: ${drawn}`);
      t.strictSame((await rollout({})).body, first.body, 'one seed gives one answer');
      t.match(await rollout({ slots: [0, 63] }), { status: 400, body: { param: 'slots' } });
      t.match(await rollout({}, bob), { status: 422, body: { error: 'no_world_model' } });
      t.match(await rollout({ series: ['load.hours'] }), { status: 400 });
      const own = { ...ann, roles: ['developer'] } as const;
      t.match(await bed.ask('POST', 'forecasts', { file: 'b.exmm' }, own), { status: 400, body: { param: 'series' } });
      const wanted = { slots: true, file: 'b.exmm' };
      t.match(await bed.ended(await bed.ask('POST', 'forecasts', wanted, own)), { state: 'done' });
      t.strictSame(await bed.sectionsOf('b.exmm'), ['slots:me']);
      t.match(await bed.ended(await bed.ask('POST', 'forecasts', wanted, dev)), {
        state: 'failed',
        error: { code: 'no_world_model' },
      });
      const path = join(bed.folder, 'b.exmm');
      const [section] = readMemoryFile(path) as [SectionData];
      writeMemoryFile(path, [{ ...section, bytes: section.bytes.slice(0, -1) }], 1);
      t.match(await rollout({ emm_path: 'b.exmm' }), { status: 422, body: { error: 'nslot_load_failed' } });
      await bed.ask('DELETE', `memories/${made[0].id}`);
      await bed.exported('c.exmm');
      t.strictSame(await bed.sectionsOf('c.exmm'), ['episodes:me', 'vectors:me'], 'nothing is left that was learned of it');
      await dream();
      await bed.exported('c.exmm');
      t.strictSame(await bed.sectionsOf('c.exmm'), ['episodes:me', 'vectors:me', 'slots:me']);
    },
  );

  t.test('those who write one file at a time lose nothing of each other', async (t) => {
    const bed = await openFiles(t, newDatabase);
    const people = ['ann', 'bob', 'cid'].map((name) => callerOf(name));
    for (const person of people) await bed.add('I like black tea', {}, person);
    await bed.ask('POST', 'memories', { text: 'The canteen opens at noon', owner: 'tenant' }, admin);
    await bed.exported('one.exmm', { owner: 'tenant' }, admin);
    await Promise.all([
      ...people.map((person) => bed.exported('one.exmm', {}, person)),
      bed.ended(await bed.ask('POST', 'forecasts', { series: ['load.hours'], file: 'one.exmm' }, dev)),
      bed.call('DELETE', 'exmm/shard?file=one.exmm&section=vectors:tenant', undefined, admin),
    ]);
    t.strictSame(
      new Set(readMemoryFile(join(bed.folder, 'one.exmm')).map(({ kind, name }) => `${kind} ${name}`)),
      new Set([
        'world_model series',
        'episodes tenant',
        ...people.flatMap(({ subject }) => [`episodes user:${subject}`, `vectors user:${subject}`]),
      ]),
    );
  });

  t.test('nothing stays in files of an account or a tenant that is deleted, and no half-written file', async (t) => {
    const bed = await openFiles(t, newDatabase);
    const both = { ...ann, roles: ['developer'] } as const;
    await bed.add('Quince marmalade is mine');
    await bed.add('Rice is mine', {}, bob);
    await bed.exported('a.exmm');
    await bed.exported('b.exmm', {}, bob);
    await bed.exported('b.exmm');
    await bed.ended(await bed.call('POST', 'exmm/consolidate', { file: 'a.exmm' }, both));
    const { belongings } = bed.module(memory);
    t.strictSame(await belongings?.heldHere?.(), { tenants: ['red'], accounts: ['ann', 'bob'] });
    await belongings?.eraseAccount?.(systemScope(), 'ann');
    t.strictSame(readdirSync(bed.folder), ['b.exmm'], 'a file and a backup of hers alone go');
    t.notOk(readFileSync(join(bed.folder, 'b.exmm')).includes('Quince'));
    t.strictSame((await belongings?.heldHere?.())?.accounts, ['bob']);
    t.equal((await bed.load('b.exmm', 'import', bob)).status, 200);
    await eraseFromDamaged(t, bed);
    const half = join(bed.folder, 'a.exmm.77.tmp');
    writeFileSync(half, 'half');
    await bed.module(memory).stop();
    await bed.module(memory).start();
    t.notOk(existsSync(half), 'what a killed process left is removed at the start');
    await belongings?.eraseTenant(tenantScope('red'));
    t.notOk(existsSync(bed.folder));
  });
}

onEachDatabase(testFiles, { timeoutMs: 240_000 });

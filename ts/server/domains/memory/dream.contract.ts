/** Dreams over HTTP on both databases: planted memories are put in order, and every change can be undone. */
import type { Test } from 'tap';
import { random } from '../../../../test/test-support/seed.ts';
import { until } from '../../platform/jobs/test-support/open-jobs.ts';
import { systemScope, tenantScope } from '../../platform/storage/index.ts';
import { type NewDatabase, newUrl, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { scriptedService, wordModel } from '../retrieval/test-support/word-model.ts';
import { DreamSchedule, minuteOf } from './dream-schedule.ts';
import { DreamStore } from './dream-store.ts';
import type { Dreams } from './dreams.ts';
import type { MemoryKind } from './memory.ts';
import { MemoryStore } from './store.ts';
import { admin, ann, callerOf, openMemory } from './test-support/memory-bed.ts';

const DAY_MS = 86_400_000;
const bob = callerOf('bob');

type Bed = Awaited<ReturnType<typeof openMemory>>;

/** Memories as an import or an older version of the rules may have left them: nothing was compared when they were stored. */
async function plant(bed: Bed, texts: readonly { text: string; ageDays?: number; kind?: MemoryKind }[], owner = 'user:ann') {
  const store = new MemoryStore(bed.storage.access());
  const scope = tenantScope('red');
  const collection = await store.openCollection(scope, owner, { model: 'words', source: 'local', prefixes: 'none' });
  const ids: string[] = [];
  for (const [i, { text, ageDays = 10, kind = 'fact' }] of texts.entries()) {
    const { vectors } = await scriptedService(wordModel()).embed({} as never, [text], {} as never);
    const recordedAt = Date.now() - Math.round(ageDays * DAY_MS);
    const added = await store.add(
      scope,
      collection,
      {
        text,
        kind,
        subject: undefined,
        textHash: `planted ${i} ${random.next()}`,
        attribute: undefined,
        origin: { type: 'import', at: recordedAt },
        trust: 'imported',
        validFrom: recordedAt,
        recordedAt,
        embedding: vectors[0] ?? new Float32Array(0),
      },
      100_000,
    );
    if (added === 'full') throw new Error('there is no room');
    ids.push(added.memory.id);
  }
  return ids;
}

async function dream(
  bed: Bed,
  body: object = {},
  as = ann,
): Promise<{ id: string; body: Awaited<ReturnType<Bed['ask']>>['body'] }> {
  const begun = await bed.ask('POST', 'dream', body, as);
  if (begun.status !== 202) throw new Error(`${begun.status} ${begun.text}`);
  const id = begun.body.dream_id as string;
  const ended = await until(
    () => bed.ask('GET', `dreams/${id}`, undefined, as),
    (answer) => answer.body.ended_at !== null,
    120_000,
  );
  return { id, body: ended.body };
}

/** All that a memory is, without the numbers under which it is indexed. */
async function rowsOf(bed: Bed): Promise<unknown[]> {
  const rows = await bed.storage
    .access<Record<string, Record<string, unknown>>>()
    .read(systemScope(), (db) => db.selectFrom('memories').selectAll().orderBy('id').execute());
  return rows.map(({ no: _, version: __, changed_at: ___, ...row }) => row);
}

const NAMES = 'Anna Ben Clara David Emil Frieda Greta Hugo Ida Jonas Karla Lars Mira Nils Olga Paul Rosa Sven Tilda Udo'.split(
  ' ',
);
const CITIES = 'Kiel Bonn Ulm Trier Jena Emden Fulda Worms Hagen Celle Gera Hof'.split(' ');
const HOBBIES = ['collects stamps', 'grows tomatoes', 'repairs clocks', 'paints boats', 'bakes bread', 'trains dogs'];

/** 500 memories with the place of what each planted one belongs to. */
function plantedMemories() {
  const pick = <T>(values: readonly T[], i: number): T => values[i % values.length] as T;
  const base = Array.from({ length: 240 }, (_, i) => {
    const [name, city] = [pick(NAMES, i), pick(CITIES, Math.floor(i / NAMES.length))];
    return `${name} ${pick(HOBBIES, i + Math.floor(i / 7))} in ${city} with ${10 + i} friends`;
  });
  const again: readonly ((text: string) => string)[] = [
    (text) => `${text}.`,
    (text) => text.toUpperCase().slice(0, 1) + text.slice(1).replace(' in ', ' really in '),
    (text) => text.replace(/^(\w+) (.+) (in \w+) (with .*)$/, '$1 $3 $2 $4'),
    (text) => `  ${text.replaceAll(' ', '  ')}!`,
  ];
  const duplicates = Array.from({ length: 100 }, (_, i) => ({ of: i, text: pick(again, i)(pick(base, i)) }));
  const changed = Array.from({ length: 60 }, (_, i): [string, string] => {
    const name = `${pick(NAMES, i)}${'abc'[Math.floor(i / 20)]}`;
    const forms: [string, string][] = [
      [`${name} lives in ${pick(CITIES, i)}`, `${name} has moved to ${pick(CITIES, i + 1)}`],
      [`${name} arbeitet bei Firma${i}`, `${name} arbeitet jetzt bei Werk${i}`],
      [`The deadline of project ${name} is Monday`, `The deadline of project ${name} is Friday`],
      [`${name}s Lieblingsfarbe ist Rot`, `${name}s Lieblingsfarbe ist jetzt Blau`],
    ];
    return pick(forms, i);
  });
  const lookAlike: readonly ((text: string, i: number) => string)[] = [
    (text) => text.replace(/^\w+/, 'Xaver'),
    (text) => text.replace(/in \w+/, 'in Lübeck'),
    (text, i) => text.replace(/\d+/, String(900 + i)),
    (text) => text.replace(' in ', ' not in '),
  ];
  const alike = Array.from({ length: 40 }, (_, i) => ({ of: 100 + i, text: pick(lookAlike, i)(pick(base, 100 + i), i) }));
  return { base, duplicates, changed, alike };
}

/** Calls `hold` after each unit of changes of a dream, with how many there were. */
function holdDreams(t: Test, hold: (nUnits: number) => Promise<void>) {
  const { apply } = DreamStore.prototype;
  const restore = () => {
    DreamStore.prototype.apply = apply;
  };
  t.teardown(restore);
  let nUnits = 0;
  DreamStore.prototype.apply = async function (this: DreamStore, ...args) {
    const nChanges = await apply.apply(this, args);
    nUnits += 1;
    await hold(nUnits);
    return nChanges;
  };
  return { restore };
}

function testDreams(t: Test, newDatabase: NewDatabase): void {
  const open = async (t: Test, settings = {}) => await openMemory(t, { databaseUrl: await newUrl(t, newDatabase), settings });

  t.test(
    'of 500 memories the planted duplicates and contradictions are settled, look-alikes are not, and undo restores all',
    async (t) => {
      const bed = await open(t);
      const { base, duplicates, changed, alike } = plantedMemories();
      const ids = await plant(bed, [
        ...base.map((text) => ({ text, ageDays: 20 })),
        ...changed.map(([text]) => ({ text, ageDays: 15 })),
        ...duplicates.map(({ text }) => ({ text, ageDays: 12 })),
        ...alike.map(({ text }) => ({ text, ageDays: 12 })),
        ...changed.map(([, text]) => ({ text, ageDays: 5 })),
      ]);
      t.equal(ids.length, 500);
      const before = await rowsOf(bed);
      const dry = await dream(bed, { dry_run: true });
      t.strictSame(await rowsOf(bed), before, 'a dry run changes nothing');
      const { id, body } = await dream(bed);
      t.match(body, { state: 'done', owner: 'me', report: { skipped: [{ step: 'contradictions' }, { step: 'summaries' }] } });
      t.match(dry.body.report.changed, body.report.changed, 'the dry run said so');

      const [oldAt, doubleAt, alikeAt, newAt] = [240, 300, 400, 440];
      const now = new Map<string, { state: string; superseded_by: string | null }>();
      for (const row of (await rowsOf(bed)) as { id: string; state: string; superseded_by: string | null }[])
        now.set(row.id, row);
      const at = (i: number) => now.get(ids[i] ?? '');
      const nMerged = duplicates.filter(
        ({ of }, i) => at(doubleAt + i)?.superseded_by === ids[of] && at(of)?.state === 'current',
      ).length;
      const nSettled = changed.filter(
        (_, i) => at(oldAt + i)?.superseded_by === ids[newAt + i] && at(newAt + i)?.state === 'current',
      ).length;
      const nTouched = alike.filter(({ of }, i) => at(alikeAt + i)?.state !== 'current' || at(of)?.state !== 'current').length;
      t.comment(`${nMerged} of 100 duplicates, ${nSettled} of 60 contradictions, ${nTouched} of 40 look-alikes touched`);
      t.ok(nMerged >= 95 && nSettled >= 57 && nTouched <= 1, `${nMerged}, ${nSettled}, ${nTouched}`);
      const text = base[0] ?? '';
      t.equal(
        (await bed.textsOf('memories/search', { query: text, max: 50 })).filter((each) => / 10 friends/.test(each)).length,
        1,
      );

      const kept = (await bed.ask('GET', `memories/${ids[0]}`)).body;
      t.equal(kept.origins.length, 2, 'all origins go to the one that stays');
      const [first] = body.changes.filter(({ action }: { action: string }) => action === 'superseded');
      t.match(await bed.ask('POST', `dreams/${id}/undo`, { changes: [first.id] }), {
        status: 200,
        body: { undone: [first.id], skipped: [] },
      });
      t.match((await bed.ask('GET', `memories/${first.memory}`)).body, { state: 'current', superseded_by: null });
      const undone = await bed.ask('POST', `dreams/${id}/undo`, {});
      t.strictSame(undone.body.skipped, []);
      t.strictSame(await rowsOf(bed), before, 'every row is as it was');
      t.strictSame(
        (await bed.ask('POST', `dreams/${id}/undo`, {})).body,
        { undone: [], skipped: [] },
        'what is undone is undone once',
      );
      const found = await bed.textsOf('memories/search', { query: text, max: 50 });
      t.equal(found.filter((each) => / 10 friends/.test(each)).length, 2, 'what is undone is found again, once each');
    },
  );

  t.test(
    'episodes become a summary, what nobody recalls fades, and what a person pinned or worded is never touched',
    async (t) => {
      const bed = await open(t);
      const week = Date.now() - 30 * DAY_MS;
      const ageOf = (at: number) => (Date.now() - at) / DAY_MS;
      const monday = week - ((week + 3 * DAY_MS) % (7 * DAY_MS));
      const [one = '', two = '', pinned = '', worded = '', faint = ''] = await plant(bed, [
        { text: 'We visited the zoo', kind: 'episode', ageDays: ageOf(monday + DAY_MS) },
        { text: 'We baked a cake', kind: 'episode', ageDays: ageOf(monday + 2 * DAY_MS) },
        { text: 'We saw a film', kind: 'episode', ageDays: ageOf(monday + 3 * DAY_MS) },
        { text: 'Clara lives in Ulm', ageDays: 400 },
        { text: 'The old bridge is closed', ageDays: 900 },
      ]);
      await bed.ask('PATCH', `memories/${pinned}`, { pinned: true });
      await bed.ask('PATCH', `memories/${worded}`, { text: 'Clara lives in Hof' });
      await plant(bed, [{ text: 'Clara has moved to Kiel', ageDays: 1.5 }]);
      const { id, body } = await dream(bed, { half_life_days: 90 });
      t.match(body.report.changed, { summaries: 3, archive: 1, contradictions: 0, duplicates: 0 });
      const read = async (memory: string) => (await bed.ask('GET', `memories/${memory}`)).body;
      const summary = (await bed.ask('GET', 'memories')).body.data.find(({ kind }: { kind: string }) => kind === 'summary');
      t.match(summary, { trust: 'derived', text: /^\d{4}-\d\d-\d\d – \d{4}-\d\d-\d\d: We visited the zoo; We baked a cake$/ });
      for (const episode of [one, two]) t.match(await read(episode), { state: 'archived', superseded_by: summary.id });
      t.match(await read(pinned), { state: 'current', strength: 1, pinned: true });
      t.match(await read(worded), { state: 'current', strength: 1 });
      t.match(await read(faint), { state: 'archived', history: [{ action: 'faded' }, { action: 'archived' }] });
      const again = await dream(bed);
      t.match(
        again.body.report.changed,
        { duplicates: 0, contradictions: 0, summaries: 0, decay: 0, archive: 0 },
        'a second dream finds nothing',
      );
      t.match(await bed.ask('DELETE', `memories/${one}`), { body: { deleted: 2 } }, 'the summary that holds it goes as well');
      t.match(await read(two), { state: 'current', superseded_by: null });
      t.match(
        (await bed.ask('POST', `dreams/${id}/undo`, {})).body.skipped.length > 0,
        true,
        'what was forgotten does not come back',
      );
      t.notMatch(JSON.stringify((await bed.ask('GET', `dreams/${id}`)).body), /zoo/);
    },
  );

  t.test('a dream that is interrupted goes on, and ends as one that was not', async (t) => {
    const texts = Array.from({ length: 12 }, (_, i) => [
      `Tom${i} lives in Kiel`,
      `Tom${i} has moved to Ulm`,
      `Tom${i} has moved to Ulm.`,
    ]).flat();
    const ends: unknown[][] = [];
    for (const interrupts of [false, true]) {
      const bed = await open(t);
      await plant(
        bed,
        texts.map((text, i) => ({ text, ageDays: 30 - i / 2 })),
      );
      const apply = DreamStore.prototype.apply;
      let nLeft = interrupts ? 2 : 0;
      DreamStore.prototype.apply = async function (this: DreamStore, ...args) {
        const n = await apply.apply(this, args);
        // Half of the faults come when the change is on disk already.
        if (nLeft > 0 && random.next() < 0.4) {
          nLeft -= 1;
          throw Object.assign(new Error('the power went'), { retryAfterMs: 1 });
        }
        return n;
      };
      t.teardown(() => {
        DreamStore.prototype.apply = apply;
      });
      const id = (await bed.ask('POST', 'dream', {})).body.dream_id as string;
      await until(
        () => bed.ask('GET', `dreams/${id}`),
        ({ body }) => body.state === 'done',
        120_000,
      );
      DreamStore.prototype.apply = apply;
      const rows = (await rowsOf(bed)) as Record<string, unknown>[];
      ends.push(rows.map(({ text, state, strength }) => [text, state, Math.round(Number(strength) * 1e6)]));
    }
    t.strictSame(ends[1], ends[0]);
  });

  t.test('a dream whose job is cancelled ends as cancelled, queued or running, and what it did can be undone', async (t) => {
    const bed = await open(t);
    const scope = tenantScope('red');
    const texts = ['Tom', 'Ida', 'Udo'].flatMap((name) => [`${name} lives in Kiel`, `${name} has moved to Ulm`]);
    for (const owner of ['user:ann', 'user:bob'])
      await plant(
        bed,
        texts.map((text, i) => ({ text, ageDays: 30 - i })),
        owner,
      );
    const before = await rowsOf(bed);
    const isHalfway = Promise.withResolvers<void>();
    const goesOn = Promise.withResolvers<void>();
    const apply = holdDreams(t, async (n) => {
      if (n !== 2) return;
      isHalfway.resolve();
      await goesOn.promise;
    });
    const running = (await bed.ask('POST', 'dream', { steps: ['contradictions'] })).body;
    await isHalfway.promise;
    const queued = (await bed.ask('POST', 'dream', {}, bob)).body;
    await bed.jobs.cancel(scope, queued.job_id);
    t.match((await bed.ask('GET', 'dreams', undefined, bob)).body.data, [{ id: queued.dream_id, state: 'cancelled' }]);
    t.match((await bed.ask('POST', 'dream', {}, bob)).status, 202, 'another one may begin');
    t.match((await bed.ask('POST', `dreams/${running.dream_id}/undo`, {})).body, { error: 'dream_running' });
    await bed.jobs.cancel(scope, running.job_id);
    goesOn.resolve();
    const ended = await until(
      () => bed.ask('GET', `dreams/${running.dream_id}`),
      ({ body }) => body.ended_at !== null,
    );
    t.match(ended.body, { state: 'cancelled', report: null, changes: [{}, {}] });
    apply.restore();
    const undone = await bed.ask('POST', `dreams/${running.dream_id}/undo`, {});
    t.strictSame([undone.body.undone.length, undone.body.skipped.length], [2, 0]);
    const ofAnn = (rows: unknown[]) => rows.filter((row) => (row as { owner: string }).owner === 'user:ann');
    t.strictSame(ofAnn(await rowsOf(bed)), ofAnn(before));
  });

  t.test('the dream of a server that was killed goes on after the next start, and ends once', async (t) => {
    const databaseUrl = await newUrl(t, newDatabase);
    const killed = await openMemory(t, { databaseUrl });
    const ids = await plant(killed, [{ text: 'Tom lives in Kiel' }, { text: 'Tom has moved to Ulm', ageDays: 5 }]);
    const isHalfway = Promise.withResolvers<void>();
    const teardown = Promise.withResolvers<void>();
    const apply = holdDreams(t, async () => {
      isHalfway.resolve();
      await teardown.promise;
      throw new Error('the process is gone');
    });
    const { dream_id: id } = (await killed.ask('POST', 'dream', { steps: ['contradictions'] })).body;
    await isHalfway.promise;
    apply.restore();
    const next = await openMemory(t, { databaseUrl });
    const ended = await until(
      () => next.ask('GET', `dreams/${id}`),
      ({ body }) => body.ended_at !== null,
    );
    t.match(ended.body, { state: 'done', changes: [{ memory: ids[0], action: 'superseded' }] });
    t.equal(ended.body.changes.length, 1);
    teardown.resolve();
  });

  t.test('dreams are their owner’s, one at a time, and wrong values are named', async (t) => {
    const bed = await open(t);
    await bed.add('I live in Berlin');
    for (const [body, param] of [
      [{ similarity: 'high' }, 'similarity'],
      [{ similarity: 2 }, 'similarity'],
      [{ half_life_days: 0 }, 'half_life_days'],
      [{ max_seconds: 1.5 }, 'max_seconds'],
      [{ dry_run: 'yes' }, 'dry_run'],
      [{ steps: ['nothing'] }, 'steps[0]'],
      [{ steps: 'all' }, 'steps'],
      [{ owner: 'bob' }, 'owner'],
    ] as const)
      t.match(
        await bed.ask('POST', 'dream', body),
        { status: 400, body: { error: 'invalid_request', param } },
        JSON.stringify(body),
      );
    t.match(await bed.ask('POST', 'dream', { owner: 'tenant' }), { status: 403, body: { error: 'tenant_memory_denied' } });
    const { id } = await dream(bed);
    for (const stranger of [bob, admin]) {
      t.match(await bed.ask('GET', `dreams/${id}`, undefined, stranger), { status: 404, body: { error: 'dream_not_found' } });
      t.match(await bed.ask('POST', `dreams/${id}/undo`, {}, stranger), { status: 404 });
      t.strictSame((await bed.ask('GET', 'dreams', undefined, stranger)).body.data, []);
    }
    t.match((await bed.ask('GET', 'dreams')).body.data, [{ id, state: 'done' }]);
    const change = 'mch_0199a3b2-0000-7000-8000-000000000000';
    t.match(await bed.ask('POST', `dreams/${id}/undo`, { changes: [change] }), { status: 400, body: { param: 'changes' } });
    const late = await open(t, { 'memory.undo_days': 0 });
    await late.add('I live in Berlin');
    const over = await dream(late);
    t.match(await late.ask('POST', `dreams/${over.id}/undo`, {}), { status: 409, body: { error: 'dream_undo_expired' } });
  });

  t.test('the schedule begins one dream a day for each owner', async (t) => {
    const bed = await open(t);
    await bed.add('I live in Berlin');
    await bed.add('Bob likes rice', {}, bob);
    const store = new DreamStore(bed.storage.access());
    const midnight = Date.now() - (Date.now() % DAY_MS);
    let now = midnight + 4 * 3_600_000;
    const begun: string[] = [];
    const dreams: Pick<Dreams, 'beginFor'> = {
      beginFor: async (scope, owner) => {
        begun.push(owner);
        await store.add(scope, owner, { steps: [], isDry: false, maxSeconds: 1, similarity: 1, halfLifeDays: 1 }, now);
        return undefined;
      },
    };
    const schedule = new DreamSchedule({
      dreams,
      store,
      log: { warn: () => {} } as never,
      minute: minuteOf('03:30'),
      now: () => now,
    });
    await schedule.look();
    await schedule.look();
    t.same(new Set(begun), new Set(['user:ann', 'user:bob']));
    t.equal(begun.length, 2);
    now += DAY_MS / 2;
    await schedule.look();
    t.equal(begun.length, 2, 'not at another time of the day');
    now += DAY_MS / 2;
    await schedule.look();
    t.equal(begun.length, 4);
    t.equal(minuteOf(''), undefined);
  });
}

onEachDatabase(testDreams, { timeoutMs: 240_000 });

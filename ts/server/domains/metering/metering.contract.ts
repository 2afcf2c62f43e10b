/** What holds of metering on both databases. Each test opens a database of its own. */
import type { Test } from 'tap';
import { systemScope } from '../../platform/storage/index.ts';
import { type NewDatabase, newUrl, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import type { MeteringTables } from './tables.ts';
import { ann, bob, openMetering, principal, root, START, work } from './test-support/metering-bed.ts';
import { UsageStore } from './usage/usage-store.ts';

/** The address of a new database. */
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const quotas = '/api/v1/metering/quotas';
const usagePath = '/api/v1/metering/usage';

function testMeteringContract(t: Test, newDatabase: NewDatabase): void {
  const open = async (t: Test, settings: Record<string, unknown> = {}) =>
    openMetering(t, { databaseUrl: await newUrl(t, newDatabase), settings });

  t.test('what ends is counted once by hour, caller and model, and read by group', async (t) => {
    const bed = await open(t);
    await Promise.all([bed.use(ann, 10, 5), bed.use(ann, 20, 5), bed.use(bob, 1, 1)]);
    await bed.use({ ...ann, key: 'key_c' }, 100, 0, { model: 'e', operation: 'embeddings', isStreamed: false });
    const rows = await bed.usage();
    t.equal(rows.length, 3, 'requests of one hour, caller and model are one row');
    const by = async (group: string, as = root, more = '') => {
      const { body } = await bed.ask('GET', `${usagePath}?by=${group}${more}`, as);
      const lines = body.data as { tenant: string; id: string; requests: number; total_tokens: number }[];
      return lines.map(({ tenant, id, requests, total_tokens: tokens }) => [tenant, id, requests, tokens]);
    };
    t.strictSame(await by('key'), [
      ['blue', 'key_b', 1, 2],
      ['red', 'key_a', 2, 40],
      ['red', 'key_c', 1, 100],
    ]);
    t.strictSame(await by('model', principal('red', 'admin')), [
      ['red', 'e', 1, 100],
      ['red', 'm', 2, 40],
    ]);
    t.strictSame(await by('user', root, '&tenant=red'), [['red', 'usr_ann', 3, 140]]);
    t.strictSame(await by('tenant'), [
      ['blue', 'blue', 1, 2],
      ['red', 'red', 3, 140],
    ]);
    t.strictSame(await by('key', principal('red', 'viewer', 'usr_ann')), [
      ['red', 'key_a', 2, 40],
      ['red', 'key_c', 1, 100],
    ]);
    t.strictSame(await by('key', principal('red', 'viewer', 'usr_other')), [], 'others see nothing of it');
    t.strictSame(await by('key', principal('blue', 'admin')), [['blue', 'key_b', 1, 2]], 'no byte of another tenant');
    t.equal((await bed.ask('GET', `${usagePath}?tenant=red`, principal('blue', 'admin'))).status, 403);
    const page = await bed.ask('GET', `${usagePath}?by=key&limit=1`);
    t.match(page.body, { data: [{ id: 'key_b' }], next: 'blue key_b' });
    const rest = await bed.ask('GET', `${usagePath}?by=key&limit=2&after=${encodeURIComponent(page.body.next as string)}`);
    t.strictSame(rest.body.data.length, 2);
    t.equal(rest.body.next, undefined);
  });

  t.test('usage over time has a step for each hour or day, for the largest groups and for all', async (t) => {
    const bed = await open(t);
    await Promise.all([bed.use(ann, 10, 5), bed.use(ann, 20, 5), bed.use(bob, 1, 1)]);
    const [{ hour } = { hour: 0 }] = await bed.usage();
    const series = async (from: number, to: number, more = '', as = root) => {
      const query = `?by=key&from=${new Date(from).toISOString()}&to=${new Date(to).toISOString()}${more}`;
      return (await bed.ask('GET', `${usagePath}/series${query}`, as)).body;
    };
    const hours = await series(hour - HOUR, hour + 2 * HOUR, '&step=hour');
    t.match(hours, { step: 'hour', total: { tokens: [0, 42, 0], requests: [0, 3, 0] }, times: { length: 3 } });
    t.match(hours.groups, [
      { tenant: 'red', id: 'key_a', tokens: [0, 40, 0], requests: [0, 2, 0] },
      { tenant: 'blue', id: 'key_b', tokens: [0, 2, 0] },
    ]);
    t.match(await series(hour - 30 * HOUR, hour + HOUR), { step: 'day', total: { tokens: [0, 42] } });
    t.match((await bed.ask('GET', `${usagePath}/series`)).body, { by: 'model', times: { length: 30 } });
    const own = await series(hour, hour + HOUR, '', principal('blue', 'admin'));
    t.match(own, { total: { tokens: [2] }, groups: { length: 1 } }, 'no token of another tenant');
    t.match(await series(hour, hour, '&step=hour'), { times: [], total: { tokens: [] } });
    t.equal((await bed.ask('GET', `${usagePath}/series?step=hour&from=2020-01-01`)).status, 400, 'too many steps');
    t.equal((await bed.ask('GET', `${usagePath}/series?tenant=red`, principal('blue', 'admin'))).status, 403);
  });

  t.test('from and to choose hours, and nonsense in them is a 400', async (t) => {
    const bed = await open(t);
    await bed.use(ann, 10, 5);
    const [{ hour } = { hour: 0 }] = await bed.usage();
    const count = async (from: number, to: number) => {
      const query = `?from=${new Date(from).toISOString()}&to=${new Date(to).toISOString()}`;
      return (await bed.ask('GET', usagePath + query)).body.data.length as number;
    };
    t.equal(await count(hour, hour + HOUR), 1);
    t.equal(await count(hour - HOUR, hour), 0);
    t.equal(await count(hour + HOUR, hour + 2 * HOUR), 0);
    for (const query of [
      'from=yesterday',
      'to=2026-13-41',
      'by=tokens',
      'limit=0',
      'limit=1001',
      'from=1',
      `tenant=${'x'.repeat(200)}`,
    ])
      t.equal((await bed.ask('GET', `${usagePath}?${query}`)).status, 400, query);
  });

  t.test('a request that was killed counts with all that its client may have had', async (t) => {
    const bed = await open(t);
    const meter = await bed.module.api.begin(ann, { ...work, nMost: undefined });
    meter.started(12);
    const covered = new Promise<void>((resolve) => {
      meter.onChange = resolve;
    });
    if (!meter.covers(100)) await covered;
    t.ok(meter.covers(100), 'the client may have so many');
    t.strictSame(await bed.usage(), [], 'it is not over');
    const after = await bed.another('one');
    const rows = await after.usage();
    t.equal(rows.length, 1);
    t.ok((rows[0]?.completion_tokens ?? 0) >= 100, `${rows[0]?.completion_tokens} tokens`);
    t.match(rows[0], { tenant: 'red', user_id: 'usr_ann', key_id: 'key_a', model: 'm', requests: 1 });
    t.strictSame((await (await after.another('one')).usage())[0], rows[0], 'it counts once');
  });

  t.test('nothing may be sent before it is on disk, and an answer in steps is on disk step by step', async (t) => {
    const bed = await open(t);
    const meter = await bed.module.api.begin(ann, { ...work, nMost: undefined });
    meter.started(12);
    t.notOk(meter.covers(1), 'the write is under way');
    let nSent = 0;
    for (let n = 1; n <= 2000; n += 1) {
      while (!meter.covers(n)) await new Promise((resolve) => setImmediate(resolve));
      nSent = n;
      if (n % 500 !== 0) continue;
      const [killed] = await (await bed.another(`none-${n}`)).usage();
      t.equal(killed, undefined, 'another node does not count what runs here');
    }
    await meter.end({ nPromptTokens: 12, nCachedTokens: 3, nCompletionTokens: nSent });
    t.match(await bed.usage(), [{ prompt_tokens: 12, cached_tokens: 3, completion_tokens: 2000, requests: 1 }]);
    const after = await bed.another('one');
    t.equal((await after.usage()).length, 1, 'nothing is left open');
  });

  t.test('a quota by the minute refuses with what is exceeded and when it resets', async (t) => {
    const bed = await open(t);
    await bed.ask('PUT', quotas, root, { tenant: 'red', tokens_per_minute: 1000, requests_per_minute: 3 });
    await bed.use(ann, 100, 100);
    bed.clock.now += 10_000;
    await bed.use(ann, 300, 100);
    const fields = new Map<string, string>();
    const announce = (name: string, value: string) => void fields.set(name, value);
    const refused = bed.module.api.begin(ann, { ...work, nPromptEstimate: 300, nMost: 200, announce });
    const resets_at = new Date(START + MINUTE).toISOString();
    await t.rejects(refused, {
      code: 'rate_limit_exceeded',
      retryAfterMs: 50_000,
      extra: { exceeded: { quota: 'tokens_per_minute', of: 'tenant', id: 'red', limit: 1000, used: 600, resets_at } },
    });
    t.strictSame(Object.fromEntries(fields), {
      'x-ratelimit-limit-requests': '3',
      'x-ratelimit-remaining-requests': '1',
      'x-ratelimit-reset-requests': '1m0s',
      'x-ratelimit-limit-tokens': '1000',
      'x-ratelimit-remaining-tokens': '400',
      'x-ratelimit-reset-tokens': '1m0s',
    });
    await bed.use(ann, 1, 1);
    await t.rejects(bed.use(ann, 1, 1), {
      code: 'rate_limit_exceeded',
      extra: { exceeded: { quota: 'requests_per_minute', used: 3 } },
      retryAfterMs: 50_000,
    });
    await t.resolves(bed.use(bob, 900, 900), 'another tenant has its own');
    bed.clock.now += 50_000;
    await t.resolves(bed.use(ann, 300, 100, { nPromptEstimate: 300, nMost: 200 }));
    t.match((await bed.ask('GET', quotas)).body.data, [
      { tenant: 'red', tokens_per_minute: 1000, used: { minute: { requests: 3, tokens: 802 }, held_tokens: 0 } },
    ]);
  });

  t.test('a quota by the month counts the calendar month, over restarts and for those who came before it', async (t) => {
    const bed = await open(t);
    await bed.use(ann, 100, 100);
    await bed.ask('PUT', quotas, root, { tenant: 'red', user: 'usr_ann', tokens_per_month: 500, requests_per_month: 10 });
    await bed.use(ann, 100, 100);
    const after = await bed.another('one');
    for (const node of [bed, after]) {
      const refused = node.module.api.begin(ann, { ...work, nMost: 100 });
      await t.rejects(refused, {
        code: 'quota_exceeded',
        extra: { exceeded: { quota: 'tokens_per_month', of: 'user', used: 400 } },
      });
    }
    await t.resolves(bed.use({ ...ann, user: 'usr_other' }, 1, 1), 'other users have none');
    t.match((await after.ask('GET', quotas)).body.data[0], { user: 'usr_ann', used: { month: { requests: 2, tokens: 400 } } });
    const next = new Date(bed.clock.now);
    after.clock.now = Date.UTC(next.getUTCFullYear(), next.getUTCMonth() + 1, 1);
    await t.resolves(after.use(ann, 10, 100, { nMost: 100 }), 'the next month has its own');
  });

  t.test('200 requests at once use at most what one of them needs more than the quota', async (t) => {
    const bed = await open(t);
    await bed.ask('PUT', quotas, root, { tenant: 'red', tokens_per_minute: 5000 });
    const stream = async (nMost: number | undefined): Promise<number> => {
      const meter = await bed.module.api.begin(ann, { ...work, nPromptEstimate: 20, nMost });
      meter.started(20);
      let n = 0;
      for (; n < (nMost ?? 400) && meter.refusal === undefined; n += 1) {
        while (!meter.covers(n + 1) && meter.refusal === undefined) await new Promise((resolve) => setImmediate(resolve));
        if (meter.refusal !== undefined) break;
        if (n % 16 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      await meter.end({ nPromptTokens: 20, nCachedTokens: 0, nCompletionTokens: n });
      return 20 + n;
    };
    for (const nMost of [400, undefined]) {
      const used = await Promise.all(Array.from({ length: 200 }, () => stream(nMost).catch(() => 0)));
      const total = used.reduce((sum, n) => sum + n, 0);
      t.ok(total <= 5000 + 420, `${total} tokens of 5000 with max_tokens ${nMost}`);
      t.ok(total >= 4000, `${total} tokens of 5000 with max_tokens ${nMost}`);
      bed.clock.now += MINUTE;
    }
    await bed.ask('PUT', quotas, root, { tenant: 'red', tokens_per_minute: null, requests_per_minute: 50 });
    const admitted = await Promise.all(Array.from({ length: 200 }, () => stream(10).catch(() => 0)));
    t.equal(admitted.filter((n) => n > 0).length, 50);
  });

  t.test('members of a quota that are not known are refused, and change nothing', async (t) => {
    const bed = await open(t);
    for (const more of [{ kind: 'tenant' }, { subject: 'x' }, { unknown: 1 }]) {
      const body = { user: 'usr_ann', requests_per_minute: 5, ...more };
      t.match(await bed.ask('PUT', quotas, root, body), { status: 400 });
    }
    t.strictSame((await bed.ask('GET', quotas, root)).body.data, []);
  });

  t.test('what providers bill is summed up exactly, and holds back more when the month’s money is used up', async (t) => {
    const bed = await open(t);
    await bed.ask('PUT', quotas, root, { tenant: 'red', cost_micro_per_month: 1000 });
    const billed = { ...work, costOf: (nPrompt: number, nCompletion: number) => nPrompt + nCompletion };
    const use = {
      backend: 'one',
      nReasoningTokens: 1,
      nCacheWrite5mTokens: 2,
      nCacheWrite1hTokens: 3,
      nAudioTokens: 0,
      nImageTokens: 0,
    };
    const ask = async (provider: object) => {
      const meter = await bed.module.api.begin(ann, billed);
      const tokens = { nPromptTokens: 10, nCachedTokens: 4, nCompletionTokens: 5 };
      await meter.end({ ...tokens, provider: { ...use, costMicros: 300, currency: 'EUR', isEstimated: false, ...provider } });
    };
    await ask({});
    await ask({ isEstimated: true });
    await ask({ costMicros: undefined, currency: '' });
    const { body } = await bed.ask('GET', '/api/v1/metering/usage?by=backend', root);
    t.match(body.data, [
      { id: 'one', backend: 'one', requests: 3, cost_micros: 600, currency: 'EUR', estimated: true, unpriced_requests: 1 },
    ]);
    t.match(body.data, [{ reasoning_tokens: 3, cache_read_tokens: 12, cache_write_5m_tokens: 6, cache_write_1h_tokens: 9 }]);
    await ask({ costMicros: 390 });
    await t.rejects(ask({}), { code: 'quota_exceeded', extra: { exceeded: { quota: 'cost_micro_per_month', used: 990 } } });
    const free = await bed.module.api.begin(ann, work);
    await free.end({ nPromptTokens: 1, nCachedTokens: 0, nCompletionTokens: 1 });
    t.pass('what costs nothing goes on');
  });

  t.test('quotas are set by superadmins, and within a tenant by its administrators', async (t) => {
    const bed = await open(t);
    const admin = principal('red', 'admin');
    const put = (as: object, body: object) => bed.ask('PUT', quotas, as, body);
    t.match(await put(admin, { user: 'usr_ann', tokens_per_minute: 5 }), {
      status: 200,
      body: { tenant: 'red', user: 'usr_ann' },
    });
    t.equal((await put(admin, { key: 'key_a', requests_per_month: 5 })).status, 200);
    t.match(await put(admin, { tokens_per_minute: 5 }), { status: 403, body: { error: 'forbidden' } });
    t.equal((await put(admin, { tenant: 'blue', user: 'usr_bob', tokens_per_minute: 5 })).status, 403);
    t.equal((await put(principal('red', 'developer'), { user: 'usr_ann', tokens_per_minute: 5 })).status, 403);
    t.equal((await put(root, { tenant: 'blue', tokens_per_minute: 7 })).status, 200);
    t.match(await put(root, { tenant: 'nobody', tokens_per_minute: 7 }), { status: 404, body: { error: 'tenant_not_found' } });
    t.equal((await put(admin, { tenant: 'nobody', tokens_per_minute: 7 })).status, 403, 'no other tenant is told of');
    const shown = async (as: object) =>
      ((await bed.ask('GET', quotas, as)).body.data as { tenant: string; user: string | null; key: string | null }[]).map(
        ({ tenant, user, key }) => user ?? key ?? tenant,
      );
    t.strictSame(await shown(admin), ['usr_ann', 'key_a']);
    t.strictSame(await shown(principal('blue', 'admin')), ['blue']);
    t.strictSame(await shown(root), ['blue', 'usr_ann', 'key_a']);
    for (const body of [
      { user: 'a', key: 'b', tokens_per_minute: 1 },
      { user: 'usr_ann', tokens_per_minute: 0 },
      { user: 'usr_ann', tokens_per_minute: 1.5 },
      { user: 'usr_ann', tokens_per_minute: 2 ** 53 },
      { user: "x' or 1=1", tokens_per_minute: 1 },
    ])
      t.equal((await put(admin, body)).status, 400, JSON.stringify(body));
    t.match((await put(admin, { user: 'usr_ann', requests_per_minute: 9 })).body, {
      tokens_per_minute: 5,
      requests_per_minute: 9,
    });
    await put(admin, { user: 'usr_ann', tokens_per_minute: null, requests_per_minute: null });
    t.strictSame(await shown(admin), ['key_a'], 'a quota without limits is gone');
  });

  t.test('what runs counts against each quota that it has, and a request that did nothing against none', async (t) => {
    const bed = await open(t);
    for (const subject of [{ tenant: 'red' }, { tenant: 'red', user: 'usr_ann' }, { tenant: 'red', key: 'key_a' }])
      await bed.ask('PUT', quotas, root, { ...subject, tokens_per_minute: 100, requests_per_minute: 5 });
    const meter = await bed.module.api.begin(ann, { ...work, nPromptEstimate: 40, nMost: 50 });
    await t.rejects(bed.module.api.begin({ ...ann, user: 'usr_x', key: 'key_x' }, work), {
      code: 'rate_limit_exceeded',
      extra: { exceeded: { of: 'tenant' } },
    });
    await meter.end({ nPromptTokens: 0, nCachedTokens: 0, nCompletionTokens: 0 });
    const { data } = (await bed.ask('GET', quotas)).body;
    for (const { used } of data) t.match(used, { minute: { requests: 0, tokens: 0 }, held_tokens: 0 });
    t.equal((await bed.another('one')).module.ready(), undefined);
    t.strictSame(await bed.usage(), [], 'and it is no usage');
  });

  t.test('a request whose prompt is shorter than was expected holds no more than it needs', async (t) => {
    const bed = await open(t);
    await bed.ask('PUT', quotas, root, { tenant: 'red', tokens_per_minute: 1000 });
    const meter = await bed.module.api.begin(ann, { ...work, nPromptEstimate: 900, nMost: 50 });
    await t.rejects(bed.module.api.begin(ann, { ...work, nPromptEstimate: 100, nMost: 50 }), { code: 'rate_limit_exceeded' });
    meter.started(100);
    t.match((await bed.ask('GET', quotas)).body.data, [{ used: { held_tokens: 150 } }]);
    await t.resolves(bed.use(ann, 100, 50, { nPromptEstimate: 100, nMost: 50 }));
    await meter.end({ nPromptTokens: 100, nCachedTokens: 0, nCompletionTokens: 50 });
    t.match((await bed.ask('GET', quotas)).body.data, [{ used: { minute: { tokens: 300 }, held_tokens: 0 } }]);
  });

  t.test('without a database nothing is answered, and what was open counts at the next start', async (t) => {
    const bed = await open(t);
    const running = await bed.module.api.begin(ann, work);
    running.started(12);
    while (!running.covers(20)) await new Promise((resolve) => setImmediate(resolve));
    const whole = await bed.module.api.begin(ann, { ...work, isStreamed: false });
    whole.started(12);
    await bed.storage.close();
    const used = { nPromptTokens: 12, nCachedTokens: 0, nCompletionTokens: 20 };
    await t.rejects(whole.end(used), { code: 'storage_unavailable' });
    await t.rejects(running.end(used), { code: 'storage_unavailable' });
    const late = await bed.module.api.begin(ann, work);
    const told = new Promise<void>((resolve) => {
      late.onChange = resolve;
    });
    late.started(12);
    await told;
    t.notOk(late.covers(1), 'a client gets nothing');
    t.match(late.refusal, { code: 'storage_unavailable' });
    await bed.stop();
    t.match(await (await bed.another('one')).usage(), [{ requests: 1, completion_tokens: 20 }]);
  });

  t.test('a batch of usage that is there is not written again', async (t) => {
    const bed = await open(t);
    await bed.use(ann, 10, 5);
    const store = new UsageStore(bed.storage.access<MeteringTables>());
    const key = { tenant: 'red', user_id: 'usr_ann', key_id: 'key_a', model: 'm', operation: 'chat' };
    const used = {
      id: 'a',
      wasOpened: false,
      startedAt: START,
      endedAt: START,
      promptTokens: 1,
      cachedTokens: 0,
      completionTokens: 1,
    };
    const batch = { opened: [], extended: [], ended: [{ ...key, ...used }] };
    const last = await store.lastBatch(systemScope(), 'one');
    await store.write(systemScope(), 'one', last + 1, batch);
    for (const number of [last + 1, last])
      await t.rejects(store.write(systemScope(), 'one', number, batch), { code: 'constraint_violation' });
    t.match(await bed.usage(), [{ requests: 2, completion_tokens: 6 }]);
  });

  t.test('work without tokens counts as a request, also where the process was killed meanwhile', async (t) => {
    const bed = await open(t);
    await bed.ask('PUT', quotas, root, { tenant: 'red', requests_per_minute: 2 });
    const call = { ...work, operation: 'tool', nPromptEstimate: 0, nMost: 0, isStreamed: true, hasNoTokens: true } as const;
    const meter = await bed.module.api.begin(ann, call);
    await meter.end({ nPromptTokens: 0, nCachedTokens: 0, nCompletionTokens: 0 });
    t.match(await bed.usage(), [{ requests: 1, completion_tokens: 0 }]);
    await bed.module.api.begin(ann, call);
    await t.rejects(bed.module.api.begin(ann, call), { code: 'rate_limit_exceeded' });
    await bed.stop();
    t.match(await (await bed.another('one')).usage(), [{ requests: 2, completion_tokens: 0 }]);
  });

  t.test('work without tokens that is not opened counts when it ends', async (t) => {
    const bed = await open(t);
    const call = { ...work, operation: 'tool', nPromptEstimate: 0, nMost: 0, isStreamed: false, hasNoTokens: true } as const;
    const meter = await bed.module.api.begin(ann, call);
    await meter.end({ nPromptTokens: 0, nCachedTokens: 0, nCompletionTokens: 0 });
    t.match(await bed.usage(), [{ requests: 1, completion_tokens: 0 }]);
  });

  t.test('the setting and the tenant itself limit tokens a minute where no quota does', async (t) => {
    const bed = await open(t, { 'metering.tenant_tokens_per_minute': 100 });
    await bed.use(ann, 60, 0, { nMost: 0 });
    await t.rejects(bed.use(ann, 60, 0, { nPromptEstimate: 60 }), {
      code: 'rate_limit_exceeded',
      extra: { exceeded: { limit: 100 } },
    });
    await bed.ask('PUT', quotas, root, { tenant: 'red', tokens_per_minute: 1000 });
    await t.resolves(bed.use(ann, 60, 0, { nPromptEstimate: 60 }));
  });
}

onEachDatabase(testMeteringContract);

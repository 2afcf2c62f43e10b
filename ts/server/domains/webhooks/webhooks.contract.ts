/** What holds of webhooks on both databases. Each test opens a database of its own. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Test } from 'tap';
import { eventually } from '../../platform/http/test-support/test-bed.ts';
import { until } from '../../platform/jobs/test-support/open-jobs.ts';
import { systemScope, tenantScope } from '../../platform/storage/index.ts';
import { type NewDatabase, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { identityEvents } from '../identity/index.ts';
import { inferenceEvents } from '../inference/index.ts';
import type { WebhookTables } from './store/tables.ts';
import { isSigned, openReceiver } from './test-support/receiver.ts';
import { openWebhooks } from './test-support/webhook-bed.ts';

const red = tenantScope('red');
const { keyCreated, keyRevoked, tenantDeleted } = identityEvents;
const made = (id: string) => ({ id, actor: 'user:ann', detail: { name: 'ci' } });
const DAY_MS = 24 * 3_600_000;

function testWebhookContract(t: Test, newDatabase: NewDatabase): void {
  const open = async (t: Parameters<typeof openReceiver>[0], more: Omit<Parameters<typeof openWebhooks>[1], 'url'> = {}) => {
    const database = await newDatabase();
    t.teardown(() => database.remove());
    const receiver = await openReceiver(t);
    const settings = { 'webhooks.allowed_hosts': `http://${receiver.host}`, ...more.settings };
    const bed = await openWebhooks(t, { ...more, url: database.url, settings });
    const create = (events: readonly string[], url = receiver.url, caller?: string) =>
      bed.ask('POST', '', { url, events }, caller);
    const hookOf = async (id: string) => (await bed.ask('GET', `/${id}`)).body;
    /** Until no delivery is under way: what came of those before is written. */
    const untilQuiet = () =>
      until(
        () =>
          bed.storage
            .access<WebhookTables>()
            .read(systemScope(), (db) =>
              db.selectFrom('webhook_deliveries').select('id').where('holder', 'is not', null).execute(),
            ),
        ({ length }) => length === 0,
      );
    return { ...bed, receiver, create, hookOf, untilQuiet };
  };

  t.test('an event is posted, signed, and listed', async (t) => {
    const { ask, events, receiver, create } = await open(t);
    const created = await create([keyCreated.name]);
    t.equal(created.status, 201);
    t.match(created.body, { id: /^whk_/, secret: /^whsec_[\w+/]{43}=$/, enabled: true, events: [keyCreated.name] });
    await events.send(red, keyCreated, made('key_1'));
    await eventually(() => receiver.received.length === 1);
    const [got] = receiver.received;
    if (got === undefined) return;
    t.ok(isSigned(got, created.body.secret));
    t.ok(Math.abs(Number(got.headers['webhook-timestamp']) - Date.now() / 1000) < 30);
    t.match(got.json, { type: keyCreated.name, tenant: 'red', timestamp: /Z$/, data: { id: 'key_1', actor: 'user:ann' } });
    const list = `/${created.body.id}/deliveries`;
    const listed = await until(
      () => ask('GET', list),
      ({ body }) => body.data[0]?.state !== 'pending',
    );
    t.match(listed.body, {
      data: [{ id: got.id, state: 'delivered', attempts: 1, last_status: 204, payload: { type: keyCreated.name } }],
    });
    t.notOk(JSON.stringify([listed.body, (await ask('GET', '')).body]).includes('whsec_'), 'the secret is shown once');
  });

  t.test('a new secret signs beside the old one for a while, then alone', async (t) => {
    const { ask, events, receiver, create } = await open(t);
    const { body: hook } = await create([keyCreated.name]);
    const deliveries = async (n: number) => {
      await events.send(red, keyCreated, made(`key_${n}`));
      await eventually(() => receiver.received.length === n);
      return receiver.received[n - 1] as (typeof receiver.received)[number];
    };
    const { status, body: first } = await ask('POST', `/${hook.id}/secret`);
    t.equal(status, 200);
    t.match(first, { id: hook.id, secret: /^whsec_[\w+/]{43}=$/, previous_valid_until: /Z$/ });
    t.not(first.secret, hook.secret);
    const both = await deliveries(1);
    t.ok(isSigned(both, hook.secret) && isSigned(both, first.secret));
    const { body: second } = await ask('POST', `/${hook.id}/secret`, { overlap_seconds: 0 });
    const alone = await deliveries(2);
    t.ok(isSigned(alone, second.secret));
    t.notOk(isSigned(alone, first.secret) || isSigned(alone, hook.secret));
    t.notOk(JSON.stringify((await ask('GET', '')).body).includes('whsec_'));
    t.equal((await ask('POST', `/${hook.id}/secret`, { overlap_seconds: -1 })).status, 400);
    const foreign = await ask('POST', `/${hook.id}/secret`, {}, 'blue/admin');
    t.equal(foreign.status, 404);
    t.equal((await ask('POST', `/${hook.id}/secret`, {}, 'red/developer')).status, 403);
  });

  t.test('a failure is tried again with the same id and bytes, until it arrives', async (t) => {
    const { ask, events, receiver, create, hookOf, untilQuiet } = await open(t);
    const { body: hook } = await create([keyCreated.name]);
    receiver.answer = (response) => response.writeHead(receiver.received.length < 4 ? 500 : 200).end('x'.repeat(10_000));
    await events.send(red, keyCreated, made('key_1'));
    await eventually(() => receiver.received.length === 4);
    t.equal(new Set(receiver.received.map(({ id, body }) => id + body)).size, 1);
    await untilQuiet();
    t.match((await ask('GET', `/${hook.id}/deliveries`)).body.data, [{ state: 'delivered', attempts: 4, last_error: null }]);
    t.equal((await hookOf(hook.id)).failing_since, null);
    await wait(100);
    t.equal(receiver.received.length, 4, 'and not once more');
  });

  t.test('an event that the outbox brings twice is one delivery', async (t) => {
    const { receiver, create, storage } = await open(t);
    await create([keyCreated.name]);
    const { webhookSubscriber } = await import('./delivery/fan-out.ts');
    const { DeliveryStore } = await import('./store/delivery-store.ts');
    const { WebhookStore } = await import('./store/webhook-store.ts');
    const [webhooks, deliveries] = [new WebhookStore(storage.access()), new DeliveryStore(storage.access())];
    const { deliver } = webhookSubscriber({ webhooks, deliveries, now: Date.now, onAdded: () => {} });
    const event = { type: keyCreated.name, tenant: 'red', payload: made('key_1'), seq: 1_000_000, recordedAt: 1 };
    for (let i = 0; i < 2; i++) await deliver(event, new AbortController().signal);
    await eventually(() => receiver.received.length === 1);
    await wait(100);
    t.equal(receiver.received.length, 1);
  });

  t.test('tenants never see each other', async (t) => {
    const { ask, events, receiver, create } = await open(t);
    const { body: hook } = await create([keyCreated.name]);
    await create([keyCreated.name], `${receiver.url}/blue`, 'blue/admin');
    await events.send(tenantScope('blue'), keyCreated, made('key_b'));
    await eventually(() => receiver.received.length === 1);
    await wait(50);
    t.strictSame(
      receiver.received.map(({ path }) => path),
      ['/hook/blue'],
    );
    t.equal((await ask('GET', '', undefined, 'blue/admin')).body.data.length, 1);
    for (const [method, path, body] of [
      ['GET', ''],
      ['PATCH', '', { enabled: false }],
      ['DELETE', ''],
      ['GET', '/deliveries'],
      ['POST', '/deliveries/msg_1/replay'],
    ] as [string, string, object?][]) {
      const foreign = await ask(method, `/${hook.id}${path}`, body, 'blue/superadmin');
      const unknown = await ask(method, `/whk_nothing${path}`, body, 'blue/superadmin');
      t.equal(foreign.status, 404, method + path);
      t.equal(JSON.stringify(foreign.body).replaceAll(hook.id, ''), JSON.stringify(unknown.body).replaceAll('whk_nothing', ''));
    }
  });

  t.test('events of the node are for superadmins', async (t) => {
    const { ask, events, receiver, create } = await open(t);
    t.match(await create([inferenceEvents.modelLoaded.name]), { status: 403, body: { error: 'forbidden' } });
    const { body: hook } = await create([keyCreated.name]);
    t.equal((await ask('PATCH', `/${hook.id}`, { events: [inferenceEvents.modelLoaded.name] })).status, 403);
    t.equal((await create([inferenceEvents.modelLoaded.name], receiver.url, 'default/superadmin')).status, 201);
    await events.send(systemScope(), inferenceEvents.modelLoaded, { model: 'tiny' });
    await eventually(() => receiver.received.length === 1);
    t.match(receiver.received[0]?.json, { type: 'inference.model-loaded', tenant: null, data: { model: 'tiny' } });
    t.ok(
      (await ask('GET', '/events')).body.data.find(({ type }: { type: string }) => type === 'inference.model-loaded')
        .needs_superadmin,
    );
    for (const role of ['viewer', 'developer']) t.equal((await ask('GET', '', undefined, `red/${role}`)).status, 403, role);
  });

  t.test('addresses inside the network are refused, as they are written and as they resolve', async (t) => {
    const resolve = (
      _name: string,
      _options: unknown,
      callback: (error: null, found: { address: string; family: number }[]) => void,
    ) => callback(null, [{ address: '127.0.0.1', family: 4 }]);
    const { ask, events, receiver, create } = await open(t, { overrides: { resolve: resolve as never } });
    for (const url of [
      'http://example.com/',
      'https://127.0.0.1/',
      'https://[::1]/',
      'https://10.0.0.1/',
      'https://169.254.169.254/x',
      'https://2130706433/',
      'https://localhost/',
      'https://localhost./',
      'https://hooks.localhost/',
    ]) {
      t.match(await create([keyCreated.name], url), { status: 400, body: { error: 'unsafe_address' } }, url);
    }
    for (const url of ['x', 'ftp://a.example/', 'https://user:secret@a.example/', 'https://a.example/#x', 'file:///etc/passwd']) {
      t.match(await create([keyCreated.name], url), { status: 400, body: { error: 'invalid_request' } }, url);
    }
    const { body: hook } = await create([keyCreated.name], `https://rebind.example:${receiver.host.split(':')[1]}/`);
    await events.send(red, keyCreated, made('key_1'));
    const listed = await until(
      () => ask('GET', `/${hook.id}/deliveries`),
      ({ body }) => body.data[0]?.attempts > 0,
    );
    t.match(listed.body.data[0], { last_status: null, last_error: /inside a network/ });
    t.equal(receiver.received.length, 0);
  });

  t.test('redirects are not followed, and an answer without end is left', async (t) => {
    const { ask, events, receiver, create } = await open(t);
    const { body: hook } = await create([keyCreated.name, keyRevoked.name]);
    receiver.answer = (response, { path, json }) => {
      if (path !== '/hook') return response.writeHead(204).end();
      if (json.type === keyCreated.name) return response.writeHead(307, { location: '/other' }).end();
      response.writeHead(200);
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    };
    await events.send(red, keyCreated, made('key_1'));
    await events.send(red, keyRevoked, made('key_2'));
    const delivery = async (wanted: string) =>
      (await ask('GET', `/${hook.id}/deliveries`)).body.data.find(({ type }: { type: string }) => type === wanted);
    await until(
      () => delivery(keyRevoked.name),
      (endless) => endless?.state === 'delivered',
    );
    const redirected = await until(
      () => delivery(keyCreated.name),
      ({ attempts }) => attempts > 0,
    );
    t.match(redirected, { state: 'pending', last_error: /answers 307, and redirects are not followed/ });
    t.ok(receiver.received.every(({ path }) => path === '/hook'));
  });

  t.test('a receiver that hangs keeps no other one waiting', async (t) => {
    const { events, receiver, create } = await open(t, { settings: { 'webhooks.timeout_seconds': 60 } });
    await create([keyCreated.name], `${receiver.url}/slow`);
    await create([keyRevoked.name], `${receiver.url}/quick`);
    receiver.answer = (response, { path }) => {
      if (path === '/hook/quick') response.writeHead(204).end();
    };
    for (let i = 0; i < 10; i++) await events.send(red, keyCreated, made(`key_${i}`));
    await events.send(red, keyRevoked, made('key_x'));
    const nReceived = (wanted: string): number => receiver.received.filter(({ path }) => path === wanted).length;
    await eventually(() => nReceived('/hook/quick') === 1 && nReceived('/hook/slow') >= 2, 30_000);
    await wait(100);
    t.equal(nReceived('/hook/slow'), 2, 'two at a time');
  });

  t.test('what fails for days is disabled with a line of the audit log, and goes on when it is enabled', async (t) => {
    let now = Date.now();
    const { ask, events, receiver, create, acts, hookOf, untilQuiet } = await open(t, { overrides: { now: () => now } });
    const { body: hook } = await create([keyCreated.name]);
    receiver.answer = (response) => response.writeHead(503).end();
    await events.send(red, keyCreated, made('key_1'));
    const failing = await until(
      () => hookOf(hook.id),
      ({ failing_since }) => failing_since !== null,
    );
    t.equal(failing.enabled, true);
    await events.send(red, keyCreated, made('key_2'));
    now += 5 * DAY_MS + 1000;
    await eventually(() => acts.length > 0);
    t.match(acts[0], {
      tenant: 'red',
      actor: 'node',
      action: 'webhook.disable',
      target: hook.id,
      detail: { reason: /failed for 5 days/ },
    });
    const disabled = await until(
      () => hookOf(hook.id),
      ({ enabled }) => !enabled,
    );
    t.match(disabled, { disabled_reason: /5 days/ });
    await untilQuiet();
    const before = receiver.received.length;
    now += DAY_MS / 24;
    await wait(100);
    t.equal(receiver.received.length, before, 'nothing is sent while it is disabled');
    const [delivery] = (await ask('GET', `/${hook.id}/deliveries`)).body.data;
    t.match(await ask('POST', `/${hook.id}/deliveries/${delivery.id}/replay`), {
      status: 409,
      body: { error: 'webhook_disabled' },
    });
    receiver.answer = (response) => response.writeHead(204).end();
    t.match((await ask('PATCH', `/${hook.id}`, { enabled: true })).body, {
      enabled: true,
      disabled_reason: null,
      failing_since: null,
    });
    t.match(await ask('POST', `/${hook.id}/deliveries/${delivery.id}/replay`), {
      status: 202,
      body: { id: delivery.id, state: 'pending' },
    });
    await eventually(() => receiver.received.slice(before).some(({ id }) => id === delivery.id));
  });

  t.test('410 disables at once; replays have the id of the first delivery', async (t) => {
    const { ask, events, receiver, create, acts, hookOf } = await open(t);
    const { body: hook } = await create([keyCreated.name]);
    receiver.answer = (response) => response.writeHead(410).end();
    await events.send(red, keyCreated, made('key_1'));
    await eventually(() => acts.length === 1);
    const disabled = await until(
      () => hookOf(hook.id),
      ({ enabled }) => !enabled,
    );
    t.match(disabled, { disabled_reason: /410/ });
    const [{ id }] = (await ask('GET', `/${hook.id}/deliveries?state=failed`)).body.data;
    receiver.answer = (response) => response.writeHead(200).end();
    await ask('PATCH', `/${hook.id}`, { enabled: true });
    t.equal((await ask('POST', `/${hook.id}/deliveries/${id}/replay`)).status, 202);
    await eventually(() => receiver.received.length === 2);
    t.equal(receiver.received[1]?.id, id);
    t.equal((await ask('POST', `/${hook.id}/deliveries/msg_none/replay`)).body.error, 'delivery_not_found');
  });

  t.test('lists are paged; what is deleted is gone', async (t) => {
    const { ask, events, receiver, create } = await open(t);
    const { body: hook } = await create([keyCreated.name]);
    for (let i = 0; i < 5; i++) await events.send(red, keyCreated, made(`key_${i}`));
    await eventually(() => receiver.received.length === 5);
    const seen: string[] = [];
    for (let next: string | undefined = ''; next !== undefined; ) {
      const page = (await ask('GET', `/${hook.id}/deliveries?limit=2${next && `&after=${next}`}`)).body as {
        data: { id: string }[];
        next?: string;
      };
      seen.push(...page.data.map(({ id }) => id));
      next = page.next;
    }
    t.strictSame([...seen].sort(), receiver.received.map(({ id }) => id).sort());
    t.strictSame(seen, [...seen].sort().reverse(), 'newest first');
    t.equal((await ask('DELETE', `/${hook.id}`)).status, 204);
    t.equal((await ask('GET', `/${hook.id}/deliveries`)).status, 404);
    t.equal((await ask('DELETE', `/${hook.id}`)).status, 404);
    await create([keyCreated.name], receiver.url, 'gone/admin');
    await events.send(red, tenantDeleted, made('gone'));
    while ((await ask('GET', '', undefined, 'gone/admin')).body.data.length > 0) await wait(20);
    t.equal((await create(['no.event'])).status, 400);
    t.equal((await create([])).status, 400);
    for (let i = 0; i < 50; i++) t.equal((await create([keyCreated.name])).status, 201);
    t.match(await create([keyCreated.name]), { status: 409, body: { error: 'too_many_webhooks' } });
  });
}

onEachDatabase(testWebhookContract);

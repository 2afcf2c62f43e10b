/** Collected lines over HTTP: who reads which, what is refused, and lines that are followed as rsyslog writes them. */
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { newFolder } from '../../platform/files/test-support/new-folder.ts';
import { eventually } from '../../platform/http/test-support/test-bed.ts';
import { MetricsRegistry } from '../../platform/metrics/registry.ts';
import { silentLog } from '../../platform/module/test-support/scripted-context.ts';
import { LogIndex } from './index/log-index.ts';
import { openLogs, someConfig, whyNoRsyslog } from './test-support/logs-bed.ts';
import { madeLine, writeLines } from './test-support/made-copy.ts';

const skip = whyNoRsyslog;

t.setTimeout(100_000);

async function collecting(t: Test) {
  const bed = await openLogs(t);
  const config = await someConfig(t, {
    sources: [
      { network: '10.1.0.0/16', class: 'acme', tenant: 'default' },
      { network: '10.0.0.0/8', class: 'rest', tenant: 'beta' },
    ],
  });
  t.match(await bed.ask('PUT', 'rsyslog/config', config), { status: 200 });
  t.match(await bed.ask('POST', 'rsyslog/apply'), { status: 200 });
  const say = async (...texts: string[]): Promise<void> => {
    const socket = connect({ host: '127.0.0.1', port: config.listen[0]?.port ?? 0 });
    await once(socket, 'connect');
    socket.end(texts.map((text) => `<13>1 ${new Date().toISOString()} h1 app 1 - - ${text}\n`).join(''));
    socket.resume();
    await once(socket, 'close');
  };
  const write = (...lines: Parameters<typeof madeLine>[0][]) => {
    const rcvd = new Date(Date.now() - 1_000).toISOString().replace('Z', '000+00:00');
    const made = lines.map((line) => madeLine({ rcvd, ...line }));
    for (const copy of config.copies) writeLines(copy, made);
    return made;
  };
  return { ...bed, config, say, write };
}

t.test('without a collection there is nothing to search, to follow or to index', async (t) => {
  const { ask } = await openLogs(t);
  for (const [method, path] of [
    ['GET', 'search'],
    ['GET', 'tail'],
    ['POST', 'rebuild'],
  ] as const)
    t.match(await ask(method, path), { status: 409, body: { error: 'rsyslog_not_configured' } }, path);
});

t.test('a line that rsyslog received is found within a second or so, and reads are audited', { skip }, async (t) => {
  const { ask, say, acts } = await collecting(t);
  await say('the needle with password=hunter2hunter2', 'something else');
  await eventually(async () => (await ask('GET', 'search?q=needle')).body.lines.length === 1);
  const { status, body } = await ask('GET', 'search?q=needle&histogram=4&severity=5&host=H1&app=app');
  t.match(
    { status, ...body },
    {
      status: 200,
      lines: [
        { uuid: /^[0-9A-F]{32}$/, msg: 'the needle with password=[redacted]', class: 'other', time_source: 'ts', severity: 5 },
      ],
      next_cursor: null,
      partial: false,
      read: { frames: Number, bytes: Number },
      took_ms: Number,
    },
  );
  t.strictSame(
    body.histogram.map(({ lines }: { lines: number }) => lines),
    [0, 0, 0, 1],
  );
  t.strictSame((await ask('GET', 'search?q=needle&severity=4')).body.lines, []);
  t.strictSame((await ask('GET', 'search?q=needle&host=h2')).body.lines, []);
  t.strictSame((await ask('GET', 'search?q=needle&to=-5m&from=-1d')).body.lines, []);
  await ask('GET', 'search?q=password%3Dhunter2hunter2');
  t.match(acts.at(-1), { action: 'logs.search', actor: 'user:ann', detail: { q: 'password=[redacted]' } });
  t.notMatch(JSON.stringify(acts), 'hunter2');
});

t.test('what is wrong is refused, and a query with the place of its fault', { skip }, async (t) => {
  const { ask } = await collecting(t);
  t.match(await ask('GET', 'search?q=a%20%22b'), {
    status: 400,
    body: { error: 'invalid_query', position: 2, detail: /character 3/ },
  });
  t.match(await ask('GET', 'tail?q=a%20%22b'), { status: 400, body: { error: 'invalid_query' } });
  for (const query of [
    'from=yesterday',
    'to=-5x',
    'from=2026-11-28&to=2026-11-27',
    'limit=0',
    'limit=1001',
    'severity=8',
    'order=up',
    'cursor=x',
    'class=../x',
    'histogram=0',
    'from=2026-13-01T00:00:00Z',
  ])
    t.match(await ask('GET', `search?${query}`), { status: 400, body: { error: 'invalid_request' } }, query);
  for (const query of ['from=-90m', 'from=2026-11-28&to=now', 'from=2026-11-28T10:00&to=2026-11-28T11:00:00.5-01:30'])
    t.match(await ask('GET', `search?${query}`), { status: 200 }, query);
});

t.test('an administrator of a tenant reads lines of the own senders alone, others nothing', { skip }, async (t) => {
  const { ask, write, url } = await collecting(t);
  const [own] = write(
    { fromhost_ip: '10.1.2.3', msg: 'own line' },
    { fromhost_ip: '10.2.2.3', host: '10.1.2.3', msg: 'tenant default says the line' },
    { fromhost_ip: '192.168.1.1', msg: 'a line of nobody' },
  );
  t.equal((await ask('GET', 'search')).body.lines.length, 3);
  t.match((await ask('GET', 'search', undefined, 'admin')).body, { lines: [{ uuid: own?.uuid }], next_cursor: null });
  t.equal((await ask('GET', 'search?histogram=1', undefined, 'admin')).body.histogram[0].lines, 1);
  for (const role of ['developer', 'viewer']) t.equal((await ask('GET', 'search', undefined, role)).status, 403, role);
  t.equal((await ask('GET', 'tail', undefined, 'viewer')).status, 403);
  t.equal((await ask('POST', 'rebuild', undefined, 'admin')).status, 403);
  const { applied: _, ...rest } = (await ask('GET', 'rsyslog/config')).body;
  const tail = await openTail(t, url, { role: 'admin' });
  await tail.until(/following/);
  await ask('PUT', 'rsyslog/config', { ...rest, sources: [] });
  t.match(await ask('POST', 'rsyslog/apply'), { status: 200 });
  t.match(await ask('GET', 'search', undefined, 'admin'), { status: 403, body: { error: 'forbidden' } });
  await t.rejects(tail.until(/never/), /the stream ended/, 'who follows asks again');
});

t.test('what firewalls let pass is archived, and in no search', { skip }, async (t) => {
  const { ask, write } = await collecting(t);
  write({ class: 'firewall_allowed', msg: 'allowed' }, { msg: 'other' });
  t.match((await ask('GET', 'search')).body, { lines: [{ msg: 'other' }], archived: undefined });
  t.match((await ask('GET', 'search?class=firewall_allowed')).body, { lines: [], archived: true, partial: false });
  t.match((await ask('GET', 'search?class=other,firewall_allowed')).body, { lines: [{ msg: 'other' }], archived: true });
});

t.test('the index is made, shown, deleted and made again while it serves', { skip }, async (t) => {
  const { ask, write, dataDir, module } = await collecting(t);
  const lines = write(...Array.from({ length: 3_000 }, (_, i) => ({ msg: `line${i} ${'x'.repeat(300)}` })));
  const index = async () => (await ask('GET', 'status')).body.index;
  await eventually(async () => (await index()).lines > 2_000);
  t.match(await index(), { lag_seconds: 0, quarantined: 0, bytes: Number });
  const found = async () => (await ask('GET', 'search?q=line2')).body.lines.map(({ uuid }: { uuid: string }) => uuid);
  t.strictSame(await found(), [lines[2]?.uuid]);
  rmSync(join(dataDir, 'cache'), { recursive: true });
  t.strictSame(await found(), [lines[2]?.uuid]);
  await eventually(() => existsSync(join(dataDir, 'cache', 'logs', 'other')));
  t.match(await ask('POST', 'rebuild'), { status: 200, body: { started: true } });
  t.strictSame(await found(), [lines[2]?.uuid]);
  await eventually(async () => (await index()).lines > 2_000);
  let cursor = '';
  const all = new Set<string>();
  do {
    const { body } = await ask('GET', `search?limit=1000&order=asc&cursor=${cursor}`.replace(/&cursor=$/, ''));
    for (const { uuid } of body.lines) all.add(uuid);
    cursor = body.next_cursor ?? '';
  } while (cursor !== '');
  t.equal(all.size, 3_000);
  await module.stop();
  t.match(await ask('GET', 'search'), { status: 503, body: { error: 'logs_unavailable' } });
});

/** Events of a tail as they come. */
async function openTail(t: Test, url: string, { query = '', lastId = '', role = 'superadmin' } = {}) {
  const aborting = new AbortController();
  t.teardown(() => aborting.abort());
  const answer = await fetch(`${url}/api/v1/logs/tail?${query}`, {
    headers: { 'x-role': role, ...(lastId !== '' && { 'last-event-id': lastId }) },
    signal: aborting.signal,
  });
  t.match(answer.headers.get('content-type'), 'text/event-stream');
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  return {
    leave: () => aborting.abort(),
    until: async (wanted: RegExp): Promise<string> => {
      while (!wanted.test(text)) {
        const { value, done } = (await reader?.read()) ?? { done: true };
        if (done) throw new Error(`the stream ended: ${text}`);
        text += value ?? '';
      }
      return text;
    },
  };
}

t.test('lines are followed as they come, and a client that comes again has what it missed', { skip }, async (t) => {
  const { say, url, write } = await collecting(t);
  await say('before anybody listens');
  const all = await openTail(t, url);
  const some = await openTail(t, url, { query: 'q=wanted&class=other' });
  const tenant = await openTail(t, url, { role: 'admin' });
  await Promise.all([all, some, tenant].map(({ until }) => until(/following/)));
  await say('one wanted token=abcdefgh12345678', 'two');
  write({ fromhost_ip: '10.1.0.1', msg: 'own three' }, { class: 'firewall_allowed', msg: 'never' });
  const text = await all.until(/own three/);
  t.match(text, /id: \w+-\d+\ndata: \{"uuid":/);
  t.notMatch(text, /before anybody|abcdefgh1|never|canary/);
  t.match(text, /"two"/);
  t.notMatch(await some.until(/one wanted/), /"two"|own three/);
  t.notMatch(await tenant.until(/own three/), /wanted|two/);
  const ids = [...text.matchAll(/id: (\S+)/g)].map(([, id]) => id ?? '');
  all.leave();
  await say('four');
  const again = await openTail(t, url, { lastId: ids[0] ?? '' });
  const rest = await again.until(/"four"/);
  t.equal(ids.length, 3);
  for (const [i, id] of ids.entries()) t.equal(rest.includes(`id: ${id}\n`), i > 0, `event ${i}`);
  const stranger = await openTail(t, url, { lastId: 'zzz-1' });
  t.match(await stranger.until(/missed/), /event: missed\ndata: \{"lines":null\}/);
});

t.test('a flood leaves lines out for a client, and says how many', { skip }, async (t) => {
  const { url, write } = await collecting(t);
  const tail = await openTail(t, url);
  await tail.until(/following/);
  write(...Array.from({ length: 2_000 }, (_, i) => ({ msg: `flood ${i} end` })));
  const text = await tail.until(/flood 1999 end/);
  const nLines = [...text.matchAll(/flood \d+ end/g)].length;
  const nMissed = [...text.matchAll(/"lines":(\d+)/g)].reduce((sum, [, n]) => sum + Number(n), 0);
  t.equal(nLines + nMissed, 2_000);
  t.ok(nMissed > 0);
});

t.test('a client whose sources change before they were looked at for the first time is ended, and no other one', async (t) => {
  const folder = newFolder(t, ['a']);
  const copy = join(folder, 'a');
  const [before, after] = [[{ network: '10.0.0.0/8', tenant: 'acme' }], []];
  let reading: { copy: string; copies: string[]; sources: unknown } | undefined;
  const index = new LogIndex({
    dataDir: folder,
    log: silentLog,
    metrics: new MetricsRegistry(),
    now: Date.now,
    storeUrl: '',
    reading: () => reading,
  });
  index.start();
  t.teardown(() => index.stop());
  reading = { copy, copies: [copy], sources: before };
  const ended: string[] = [];
  const follow = (name: string, sources: typeof before | undefined) =>
    index.follow(
      { q: '', filters: {}, classes: undefined, senders: sources && { sources, tenant: 'acme' }, lastId: undefined },
      { onNotice: () => undefined, onEnd: () => ended.push(name) },
    );
  await Promise.all([follow('all', undefined), follow('of before', before)]);
  reading = { ...reading, sources: after };
  await eventually(async () => ended.length > 0);
  t.strictSame(ended, ['of before']);
});

/** Rules over HTTP: from a line that rsyslog received to an incident that somebody closes, and lists of addresses. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { newFolder } from '../../platform/files/test-support/new-folder.ts';
import { eventually } from '../../platform/http/test-support/test-bed.ts';
import { httpServer } from '../../platform/network/test-support/test-servers.ts';
import { AddressRanges, rangeOf } from './detection/address-ranges.ts';
import { readBlockList } from './detection/block-lists.ts';
import { openLogs, someConfig, whyNoRsyslog } from './test-support/logs-bed.ts';

const skip = whyNoRsyslog;

t.setTimeout(120_000);

const RULE = `title: A word
id: 5c7a6b1e-0000-4000-8000-000000000001
author: Florian
level: low
logsource: { product: linux }
detection:
  s: { msg|contains: forbidden }
  condition: s`;

const putRule = (url: string, id: string, yaml: string, role = 'superadmin') =>
  fetch(`${url}/api/v1/logs/rules/${id}`, { method: 'PUT', headers: { 'x-role': role }, body: yaml }).then(async (answer) => ({
    status: answer.status,
    body: (await answer.json()) as { [member: string]: unknown },
  }));

async function collecting(t: Test, bed: Awaited<ReturnType<typeof openLogs>>) {
  const config = await someConfig(t);
  t.match(await bed.ask('PUT', 'rsyslog/config', config), { status: 200 });
  t.match(await bed.ask('POST', 'rsyslog/apply'), { status: 200 });
  return async (app: string, ...texts: string[]): Promise<void> => {
    const socket = connect({ host: '127.0.0.1', port: config.listen[0]?.port ?? 0 });
    await once(socket, 'connect');
    socket.end(texts.map((text) => `<13>1 ${new Date().toISOString()} h1 ${app} 1 - - ${text}\n`).join(''));
    socket.resume();
    await once(socket, 'close');
  };
}

t.test('rules are listed, installed, switched off and removed by superadmins', async (t) => {
  const { ask, url, acts } = await openLogs(t);
  const own = (await ask('GET', 'rules')).body.data;
  t.equal(own.length, 20);
  t.match(own[0], { id: /^[a-z-]+$/, title: String, level: 'high', origin: 'own', enabled: true, unsupported: null, matches: 0 });
  t.match(await putRule(url, 'mine', RULE), {
    status: 200,
    body: { id: 'mine', title: 'A word', level: 'low', origin: 'imported', author: 'Florian', unsupported: null },
  });
  t.match(await putRule(url, 'half', RULE.replace('contains', 'base64')), {
    status: 200,
    body: { unsupported: 'the modifier base64' },
  });
  t.match(await putRule(url, 'none', 'title: x'), { status: 400, body: { error: 'invalid_rule', detail: /`logsource` has no/ } });
  t.match(
    await putRule(url, 'none', `${RULE}\n# \u00fc`.replace('\u00fc', '\udc00')),
    { status: 200 },
    'a surrogate is sent as its replacement',
  );
  t.match(await putRule(url, own[0].id, RULE), { status: 409, body: { error: 'rule_is_own' } });
  t.equal((await ask('GET', 'rules')).body.data.length, 23);
  t.match(await ask('PATCH', 'rules/mine', { enabled: false }), { status: 200, body: { enabled: false } });
  t.match(await ask('PATCH', `rules/${own[0].id}`, { enabled: false }), { status: 200, body: { enabled: false } });
  t.match(await ask('PATCH', 'rules/absent', { enabled: false }), { status: 404, body: { error: 'rule_not_found' } });
  t.equal((await ask('DELETE', 'rules/mine')).status, 204);
  t.match(await ask('DELETE', 'rules/mine'), { status: 404, body: { error: 'rule_not_found' } });
  t.match(await ask('DELETE', `rules/${own[0].id}`), { status: 409, body: { error: 'rule_is_own' } });
  t.match(await ask('GET', 'rules/../x'), { status: 404 });
  for (const [method, path, body] of [
    ['GET', 'rules'],
    ['PATCH', 'rules/half', { enabled: true }],
    ['DELETE', 'rules/half'],
    ['GET', 'incidents'],
    ['PATCH', 'incidents/inc_0199a3b2-0000-7000-8000-000000000000', { state: 'open' }],
    ['GET', 'blocklists'],
    ['POST', 'blocklists', { name: 'a', path: '/a', refresh_minutes: 5 }],
    ['DELETE', 'blocklists?name=a'],
  ] as const)
    t.equal((await ask(method, path, body, 'admin')).status, 403, `${method} ${path}`);
  t.equal((await putRule(url, 'mine', RULE, 'admin')).status, 403);
  t.match(
    acts.map(({ action, target }) => `${action} ${target}`),
    ['logs.rule mine', 'logs.rule half', 'logs.rule none', 'logs.rule mine', `logs.rule ${own[0].id}`, 'logs.rule mine'],
  );
});

t.test(
  'a received line becomes an incident with its marks, which is closed with a verdict, and opened again',
  { skip },
  async (t) => {
    const lists = newFolder(t);
    const list = join(lists, 'drop.txt');
    writeFileSync(list, '; a list\n198.51.101.0/24 ; SBL1\n10.0.0.0/8 ; SBL2\n');
    const bed = await openLogs(t);
    const { ask, url, acts } = bed;
    t.match(await ask('POST', 'blocklists', { name: 'drop', path: list, refresh_minutes: 60 }), {
      status: 200,
      body: { data: [{ name: 'drop', path: list, url: null, entries: 1, dropped: 1, error: null, fetched_at: /Z$/ }] },
    });
    await putRule(url, 'word', RULE);
    const say = await collecting(t, bed);
    await say('sshd', ...Array.from({ length: 10 }, () => 'Failed password for root from 198.51.101.9 port 22 ssh2'));
    await say('app', 'forbidden token=hunter2hunter2hunter2');
    const incidents = async (query = '') => (await ask('GET', `incidents${query}`)).body.data;
    await eventually(async () => (await incidents()).length === 2);
    const [found] = (await incidents()).filter(({ rule }: { rule: string }) => rule === 'ssh-brute-force');
    t.match(found, {
      id: /^inc_/,
      entity: '198.51.101.9',
      severity: 'high',
      state: 'open',
      verdict: null,
      author: 'svc',
      alerts: 1,
      marks: ['drop'],
      closed_at: null,
    });
    t.equal(found.uuids.length, 10);
    const lines = (await ask('GET', `search?q=uuid:${found.uuids[0]}`)).body.lines;
    t.match(lines, [{ app: 'sshd', marks: ['drop'] }]);
    t.match(
      (await incidents()).find(({ rule }: { rule: string }) => rule === 'word'),
      { author: 'Florian', marks: [], entity: 'h1' },
    );
    t.match(
      (await ask('GET', 'rules')).body.data.filter(({ matches }: { matches: number }) => matches > 0),
      [
        { id: 'ssh-brute-force', matches: 1 },
        { id: 'word', matches: 1 },
      ],
    );

    const shown = (await bed.module.health()).incidents ?? [];
    t.strictSame(
      shown.map(({ code }) => code),
      ['detection_incident', 'detection_incident'],
    );
    t.notMatch(JSON.stringify(shown), /198|root|h1|sshd/, 'strangers read no address and no name');

    const path = `incidents/${found.id}`;
    t.match(await ask('PATCH', path, { state: 'closed' }), { status: 400, body: { error: 'invalid_request' } });
    t.match(await ask('PATCH', path, { state: 'open', verdict: 'benign' }), { status: 400, body: { error: 'invalid_request' } });
    t.match(await ask('PATCH', path, { state: 'acknowledged' }), { status: 200, body: { state: 'acknowledged' } });
    t.match(await ask('PATCH', path, { state: 'closed', verdict: 'true_positive' }), {
      status: 200,
      body: { state: 'closed', verdict: 'true_positive', closed_at: /Z$/ },
    });
    t.match(await ask('PATCH', path, { state: 'acknowledged' }), { status: 409, body: { error: 'invalid_incident_state' } });
    t.match(await ask('PATCH', 'incidents/inc_0199a3b2-0000-7000-8000-000000000000', { state: 'open' }), {
      status: 404,
      body: { error: 'incident_not_found' },
    });
    t.equal((await incidents('?state=closed')).length, 1);
    t.match(
      acts.findLast(({ action }) => action === 'logs.incident'),
      { target: found.id, detail: { state: 'closed' } },
    );
    await say('sshd', ...Array.from({ length: 10 }, () => 'Failed password for root from 198.51.101.9 port 22 ssh2'));
    await eventually(async () => (await incidents('?state=closed')).length === 0);
    t.match(
      (await incidents()).find(({ id }: { id: string }) => id === found.id),
      { state: 'open', verdict: null, alerts: 2 },
    );

    await bed.stop();
    const again = await openLogs(t, { dataDir: bed.dataDir });
    t.equal((await again.ask('GET', 'incidents')).body.data.length, 2);
    t.match(
      (await again.ask('GET', 'rules')).body.data.filter(({ id }: { id: string }) => id === 'word'),
      [{ matches: 1 }],
    );
  },
);

t.test('block lists: the last good one is kept, and own and special networks are dropped', async (t) => {
  let text = '1.2.3.0/24\n192.168.0.0/16\n224.0.0.1\n::1\n2001:db8::/32\n0.0.0.0/0\n2600:1::/32\n1.2.4.5\n# 5.5.5.5\n';
  const { origin } = await httpServer(t, (_, response) => {
    if (text === '') response.writeHead(500).end();
    else response.end(text);
  });
  const { ask, stop, dataDir } = await openLogs(t, { settings: { 'logs.allowed_hosts': origin } });
  const list = { name: 'net', url: `${origin}/a.netset`, refresh_minutes: 5 };
  t.match((await ask('POST', 'blocklists', list)).body.data, [{ name: 'net', entries: 3, dropped: 5, error: null }]);
  t.match((await ask('POST', 'blocklists', { ...list, name: 'far', url: 'http://127.0.0.1:1/' })).body.data, [
    { name: 'far', entries: 0, error: /plain http|private network/, fetched_at: null },
    { name: 'net' },
  ]);
  for (const bad of [
    { ...list, path: '/a' },
    { name: 'x', refresh_minutes: 5 },
    { name: 'x', path: 'relative', refresh_minutes: 5 },
    { name: 'x', url: 'ftp://a', refresh_minutes: 5 },
    { name: '../x', path: '/a', refresh_minutes: 5 },
    { name: 'x', path: '/a', refresh_minutes: 1 },
  ])
    t.match(await ask('POST', 'blocklists', bad), { status: 400, body: { error: 'invalid_request' } }, JSON.stringify(bad));
  t.match((await ask('POST', 'blocklists', { name: 'dev', path: '/dev/zero', refresh_minutes: 5 })).body.data, [
    { name: 'dev', error: /is no file/ },
    {},
    {},
  ]);
  await stop();
  text = '';
  const again = await openLogs(t, { dataDir, settings: { 'logs.allowed_hosts': origin } });
  const shown = async () => (await again.ask('GET', 'blocklists')).body.data;
  await eventually(async () => (await shown()).length === 3 && (await shown())[2].error !== null);
  t.match((await shown())[2], { name: 'net', entries: 3, error: /answered 500/ });
  t.equal((await again.ask('DELETE', 'blocklists?name=net')).status, 204);
  t.match(await again.ask('DELETE', 'blocklists?name=net'), { status: 404, body: { error: 'blocklist_not_found' } });
  t.equal((await shown()).length, 2);

  const { ranges, dropped } = readBlockList('1.2.3.0/24\n9.9.9.9\n{"cidr":"3.3.3.0/24","sblid":"SBL1"}\nno', ['9.9.0.0/16']);
  const known = new AddressRanges(ranges);
  t.equal(dropped, 1);
  for (const [address, isIn] of [
    ['1.2.3.255', true],
    ['1.2.4.0', false],
    ['3.3.3.3', true],
    ['::ffff:1.2.3.4', true],
    ['9.9.9.9', false],
    ['nothing', false],
  ] as const)
    t.equal(known.has(address), isIn, address);
  t.throws(() => readBlockList('10.0.0.0/8\n<html>', []), /no address or network/);
  t.strictSame(rangeOf('2600::/16'), { first: `2600${'0'.repeat(28)}`, last: `2600${'f'.repeat(28)}` });
  t.equal(rangeOf('1.2.3.4/33'), undefined);
});

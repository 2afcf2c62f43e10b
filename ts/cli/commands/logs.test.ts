import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openLogs, someConfig, whyNoRsyslog } from '../../server/domains/logs/test-support/logs-bed.ts';
import { madeLine, writeLines } from '../../server/domains/logs/test-support/made-copy.ts';
import { eventually } from '../../server/platform/http/test-support/test-bed.ts';
import { runCli } from '../run-cli.ts';

// Each command is a process of its own.
t.setTimeout(120_000);

t.test('a collection is configured by a file, applied, looked at and repaired', { skip: whyNoRsyslog }, async (t) => {
  const bed = await openLogs(t);
  const config = await someConfig(t);
  const file = join(t.testdir({}), 'collection.json');
  const svc = (...args: string[]) => runCli(['logs', ...args, '--url', bed.url, '--api-key', 'superadmin']);
  t.match(await svc('config'), { code: 6, stderr: /No collection/ });
  t.match(await svc('apply'), { code: 6, stderr: /No collection/ });
  t.match(await svc('status'), { code: 0, stdout: /^rsyslog [\d.]+ stopped, nothing applied\n$/ });
  t.match(await svc('config', `${file}.absent`), { code: 1, stderr: /cannot be read/ });
  writeFileSync(file, JSON.stringify({ ...config, copies: ['a', 'b'] }));
  t.match(await svc('config', file), { code: 1, stderr: /copies/ });
  writeFileSync(file, JSON.stringify({ ...config, listen: [{ ...config.listen[0], address: '192.0.2.1' }] }));
  t.equal((await svc('config', file)).stdout, 'it is saved, and waits for `svc logs apply`\n');
  t.match(await svc('apply'), { code: 1, stderr: /192\.0\.2\.1:\d+ did not arrive/ });
  writeFileSync(file, JSON.stringify(config));
  await svc('config', file);
  t.match(await svc('apply'), { code: 0, stdout: /^lines arrive through 1 listeners, after \d+ ms\n$/ });
  t.strictSame((await svc('config', '--json')).json(), { ...config, applied: true });
  const again = (await svc('config')).stdout;
  writeFileSync(file, again);
  t.equal((await svc('config', file)).code, 0, 'what is shown can be sent back');
  t.match(
    (await svc('status')).stdout,
    new RegExp(
      `running, applied .*Z\nboth copies are in step\n\\d+ lines in the index, up to date\nCOPY .*\n${config.copies[0]} `,
    ),
  );
  t.equal((await svc('repair')).stdout, '0 files and 0 lines were put back\n');
  const [rcvd = '', later = ''] = [90_000, 80_000].map((ms) => new Date(Date.now() - ms).toISOString().replace('Z', '000+00:00'));
  const lines = [
    madeLine({ rcvd, app: 'sshd', severity: 3, msg: 'Failed \u001b[31mpassword password=hunter2hunter2' }),
    madeLine({ rcvd: later, app: 'cron', msg: 'ordinary' }),
  ];
  for (const copy of config.copies) writeLines(copy, lines);
  const found = (await svc('search')).stdout;
  t.match(found, /^\S+ h1 sshd err: Failed .*password=\[redacted\]\n\S+ h1 cron info: ordinary\n$/);
  t.notMatch(found, '\u001b');
  t.match(await svc('search', 'failed', '--severity', 'err', '--from', '-10m', '--limit', '1'), {
    code: 0,
    stdout: /^\S+ h1 sshd /,
  });
  t.equal((await svc('search', '--app', 'absent')).stdout, '');
  t.match((await svc('search', 'cron', '--json')).json(), [{ uuid: lines[1]?.uuid, msg: 'ordinary' }]);
  t.match(await svc('search', 'a OR b'), { code: 1, stderr: /character 3: OR is no word/ });
  t.match(await svc('search', '--from', 'yesterday'), { code: 1, stderr: /`from` is no time/ });
  t.match(await svc('rebuild'), { code: 0, stdout: /made again/ });
  t.match(await svc('migrate'), { code: 6, stderr: /logs\.store\.url/ });
});

t.test('incidents, rules and block lists', { skip: whyNoRsyslog }, async (t) => {
  const bed = await openLogs(t);
  const config = await someConfig(t);
  const folder = t.testdir({});
  const svc = (...args: string[]) => runCli(['logs', ...args, '--url', bed.url, '--api-key', 'superadmin']);
  const file = join(folder, 'rule.yml');
  writeFileSync(file, 'title: A word\nlogsource: { product: linux }\ndetection: { s: [forbidden], condition: s }\n');
  t.match(await svc('rule', 'put', 'word', file), { code: 0, stdout: 'word is applied: A word\n' });
  writeFileSync(file, 'title: Half\nlogsource: { product: windows }\ndetection: { s: [forbidden], condition: s }\n');
  t.match(await svc('rule', 'put', 'half', file), { code: 1, stdout: /not applied: not supported is the product windows/ });
  t.match(await svc('rule', 'disable', 'sudo-shell'), { code: 0, stdout: 'sudo-shell is off\n' });
  const rules = (await svc('rules')).stdout;
  t.match(rules, /^ID +LEVEL +STATE +ALERTS +AUTHOR +TITLE\n/);
  t.match(rules, /sudo-shell +low +off/);
  t.match(rules, /half +medium +not applied +0 .*Half: not supported is/);
  t.match(await svc('rule', 'rm', 'half'), { code: 0, stdout: 'half is removed\n' });
  const list = join(folder, 'list.netset');
  writeFileSync(list, '203.0.114.0/24\n');
  t.equal((await svc('blocklist', 'add', 'mine', list)).stdout, 'mine has 1 entries\n');

  await bed.ask('PUT', 'rsyslog/config', config);
  await bed.ask('POST', 'rsyslog/apply');
  const rcvd = new Date(Date.now() - 1_000).toISOString().replace('Z', '000+00:00');
  for (const copy of config.copies)
    writeLines(copy, [madeLine({ uuid: 'A'.repeat(32), rcvd, msg: 'forbidden src_ip=203.0.114.7 \u001b[31m' })]);
  await eventually(async () => (await bed.ask('GET', 'incidents')).body.data.length === 1);
  t.match((await svc('incidents', '--state', 'open')).stdout, /inc_\S+ +medium +open +\S+ +1 +word +203\.0\.114\.7 \(mine\)/);
  const id = (await bed.ask('GET', 'incidents')).body.data[0].id;
  t.match(await svc('incident', id, 'gone'), { code: 2, stderr: /no state/ });
  t.match(await svc('incident', id, 'closed', '--verdict', 'benign'), {
    code: 0,
    stdout: /is closed\nits lines: svc logs search uuid:A+ /,
  });
});

t.test('volumes of flows', async (t) => {
  const bed = await openLogs(t);
  const { code, stdout } = await runCli(['logs', 'flows', '--by', 'pair', '--url', bed.url, '--api-key', 'superadmin']);
  t.equal(code, 0);
  t.match(stdout, /^0 B in 0 flows from \S+:00\.000Z to \S+, by minute\nOF +BYTES +PACKETS +FLOWS +SAMPLED\n$/);
});

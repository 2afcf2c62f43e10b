import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openLogs, someConfig, whyNoRsyslog } from '../../server/domains/logs/test-support/logs-bed.ts';
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
    new RegExp(`running, applied .*Z\nboth copies are in step\nCOPY .*\n${config.copies[0]} `),
  );
  t.equal((await svc('repair')).stdout, '0 files and 0 lines were put back\n');
});

import t from 'tap';
import { openReceiver } from '../../server/domains/syslog/test-support/receiver.ts';
import { openSyslog } from '../../server/domains/syslog/test-support/syslog-bed.ts';
import { eventually } from '../../server/platform/http/test-support/test-bed.ts';
import { runCli } from '../run-cli.ts';

// Each command is a process of its own.
t.setTimeout(120_000);

t.test('a syslog server is set, tested, switched off and cleared', async (t) => {
  const receiver = await openReceiver(t, 'tcp');
  const bed = await openSyslog(t);
  const svc = (...args: string[]) => runCli(['syslog', ...args, '--url', bed.url, '--api-key', 'superadmin']);
  const port = String(receiver.port);
  t.equal((await svc('show')).stdout, 'no server, facility 16, from environment\n');
  t.match(await svc('test'), { code: 1, stderr: /no syslog server/ });
  const shown = `tcp://127.0.0.1:${port}, facility 19, from saved\n`;
  t.equal((await svc('set', '127.0.0.1', '--protocol', 'tcp', '--port', port, '--facility', 'local3')).stdout, shown);
  t.match(await svc('test'), { code: 0, stdout: `a test line was sent to tcp://127.0.0.1:${port}\n` });
  await eventually(() => receiver.lines.some((line) => line.startsWith('<158>1 ') && line.includes('syslog test')));
  t.match((await svc('stats')).stdout, /^TENANT +QUEUED +SENT +DROPPED.*\n\(node\) +\d+ +[1-9]\d* +0 /);
  t.match((await svc('set', '--off')).stdout, `tcp://127.0.0.1:${port} (off), facility 19, from saved`);
  t.match((await svc('set', '--on', '--facility', '5', '--json')).json(), { enabled: true, facility: 5, port: receiver.port });
  t.match(await svc('set', '--on', '--off'), { code: 2 });
  t.match(await svc('set', 'a:b'), { code: 1, stderr: /host/ });
  t.match(await svc('set', '127.0.0.1', '--facility', 'local9'), { code: 1, stderr: /facility/ });
  t.match((await svc('clear')).stdout, 'no server, facility 16, from environment');
});

t.test('a tenant gets a route, which is shown, tested and removed', async (t) => {
  const receiver = await openReceiver(t, 'udp');
  const bed = await openSyslog(t);
  const svc = (...args: string[]) => runCli(['syslog', ...args, '--url', bed.url, '--api-key', 'superadmin']);
  const address = `udp://127.0.0.1:${receiver.port}`;
  t.match(await svc('route', 'red'), { code: 4 });
  t.equal((await svc('route', 'red', '127.0.0.1', '--port', String(receiver.port))).stdout, `${address}\n`);
  t.equal((await svc('route', 'red')).stdout, `${address}\n`);
  t.match((await svc('show')).stdout, new RegExp(`TENANT +SERVER\nred +${address}`));
  t.match(await svc('test', '--tenant', 'red'), { code: 0, stdout: `a test line was sent to ${address}\n` });
  await eventually(() => receiver.lines.some((line) => line.includes('syslog test tenant=red')));
  t.match((await svc('stats')).stdout, /^red +0 +1 +0 +0 /m);
  t.equal((await svc('route', 'red', '--remove')).stdout, 'red has no route any more\n');
  t.match(await svc('route', 'nobody', '127.0.0.1'), { code: 1, stderr: /no tenant nobody/ });
});

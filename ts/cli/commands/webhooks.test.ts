import { join } from 'node:path';
import t from 'tap';
import { identityEvents } from '../../server/domains/identity/index.ts';
import { openReceiver } from '../../server/domains/webhooks/test-support/receiver.ts';
import { openWebhooks } from '../../server/domains/webhooks/test-support/webhook-bed.ts';
import { eventually } from '../../server/platform/http/test-support/test-bed.ts';
import { tenantScope } from '../../server/platform/storage/index.ts';
import { runCli } from '../run-cli.ts';

t.test('a webhook’s life: create, deliver, list, replay, enable, rm', async (t) => {
  const receiver = await openReceiver(t);
  const settings = { 'webhooks.allowed_hosts': `http://${receiver.host}` };
  const bed = await openWebhooks(t, { url: `sqlite:${join(t.testdir(), 'svc.db')}`, settings });
  const svc = (...args: string[]) => runCli(['webhook', ...args, '--url', bed.url, '--api-key', 'red/admin']);
  t.match((await svc('events')).stdout, /identity\.key-created +admin[\s\S]*inference\.model-loaded +superadmin/);
  const created = await svc('create', receiver.url, '--event', 'identity.key-created', '--description', 'CI');
  t.match(created.stdout, /^whk_\S+\nsecret \(shown once\): whsec_/);
  const [id = ''] = created.stdout.split('\n');
  await bed.events.send(tenantScope('red'), identityEvents.keyCreated, { id: 'key_1', actor: 'user:ann', detail: {} });
  await eventually(() => receiver.received.length === 1);
  t.match((await svc('list')).stdout, new RegExp(`${id} +enabled +${receiver.url} +identity.key-created`));
  const sent = receiver.received[0]?.id ?? '';
  t.match((await svc('deliveries', id)).stdout, new RegExp(`${sent} .*identity.key-created +delivered +1 +204`));
  t.equal((await svc('replay', id, sent)).stdout, `${sent} is sent again\n`);
  await eventually(() => receiver.received.length === 2);
  t.equal(receiver.received[1]?.id, sent);
  t.match(
    (await svc('rotate', id, '--overlap', '60')).stdout,
    /^secret \(shown once\): whsec_\S+\nthe old one signs until .*Z\n$/,
  );
  t.equal((await svc('rotate', id, '--overlap', 'x')).code, 2);
  t.match((await svc('enable', id)).stdout, /is enabled/);
  t.equal((await svc('rm', id)).code, 0);
  t.match(await svc('rm', id), { code: 4, stderr: /There is no webhook/ });
  t.match(await svc('create', 'https://127.0.0.1/', '--event', 'jobs.done'), { code: 1, stderr: /inside a private network/ });
  t.match(await svc('create', 'https://hooks.example/'), { code: 1, stderr: /400/ });
});

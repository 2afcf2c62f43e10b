import { statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { cliSetting } from '../cli-setting.ts';

t.test('a certificate is made once, with a key that only its owner reads', async (t) => {
  const { root, run } = cliSetting(t);
  const made = await run(['tls', 'self-signed', '--name', 'svc.example', '--json']);
  t.strictSame(made.json(), { cert: join(root, 'data/tls/cert.pem'), key: join(root, 'data/tls/key.pem') });
  t.equal(statSync(join(root, 'data/tls/key.pem')).mode & 0o777, 0o600);
  const again = await run(['tls', 'self-signed', '--json']);
  t.match({ code: again.code, error: again.stderr }, { code: 6, error: /has a certificate or a key already/ });
});

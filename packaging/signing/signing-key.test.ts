import t from 'tap';
import { findSigningKey } from './signing-key.ts';

t.test('no key is named: nothing is signed', async (t) => {
  t.equal(findSigningKey({}), undefined);
  t.equal(findSigningKey({ SVC_SIGNING_KEY: '' }), undefined);
});

t.test('a key by its fingerprint or address, in the user’s folder or another', async (t) => {
  t.strictSame(findSigningKey({ SVC_SIGNING_KEY: '0123456789ABCDEF' }), { name: '0123456789ABCDEF', home: undefined });
  const env = { SVC_SIGNING_KEY: 'svc <packages@svc.invalid>', SVC_SIGNING_HOME: '/root/keys' };
  t.strictSame(findSigningKey(env), { name: 'svc <packages@svc.invalid>', home: '/root/keys' });
});

t.test('a name that rpm would take for a macro is refused', async (t) => {
  for (const name of ['%(id)', 'a\n%b', '$(id)', 'x'.repeat(201)])
    t.throws(() => findSigningKey({ SVC_SIGNING_KEY: name }), name);
});

import fc from 'fast-check';
import t from 'tap';
import { presentedCredential } from '../identity-authenticator.ts';
import { isWholeApiKey, newApiKey, startOfKey } from './api-key.ts';

t.test('a new key is whole, and keys differ', async (t) => {
  const keys = Array.from({ length: 1000 }, newApiKey);
  t.ok(keys.every(isWholeApiKey));
  t.equal(new Set(keys).size, 1000);
  for (const key of keys) t.match(key, /^svc_[0-9A-Za-z]{36}$/);
  t.equal(startOfKey(keys[0] ?? '').length, 10);
});

t.test('a key in which one character is wrong, missing or too much is not whole', async () => {
  const position = fc.integer({ min: 0, max: 39 });
  const character = fc.constantFrom(...'0123456789ABCabcxyzZ_- ');
  fc.assert(
    fc.property(position, character, (at, replacement) => {
      const key = newApiKey();
      const changed = key.slice(0, at) + replacement + key.slice(at + 1);
      return (
        (changed === key || !isWholeApiKey(changed)) &&
        !isWholeApiKey(key.slice(0, at) + key.slice(at + 1)) &&
        !isWholeApiKey(key.slice(0, at) + replacement + key.slice(at))
      );
    }),
  );
});

t.test('no text makes reading credentials fail', async () => {
  const headers = fc.dictionary(fc.constantFrom('x-api-key', 'authorization', 'cookie'), fc.string());
  fc.assert(
    fc.property(headers, (given) => {
      const found = presentedCredential(new Map(Object.entries(given)));
      if (found !== undefined) isWholeApiKey(found.text);
      return true;
    }),
  );
});

t.test('one credential of a request decides: the key, then the token, then the cookie', async (t) => {
  const of = (headers: Record<string, string>) => presentedCredential(new Map(Object.entries(headers)));
  const all = { 'x-api-key': 'k', authorization: 'Bearer b', cookie: 'svc_session=c' };
  t.strictSame(of(all), { text: 'k', from: 'api-key' });
  t.strictSame(of({ ...all, 'x-api-key': '' }), { text: '', from: 'api-key' }, 'an empty key is a wrong one');
  t.strictSame(of({ authorization: 'bEARER  b ', cookie: 'svc_session=c' }), { text: 'b', from: 'bearer' });
  t.strictSame(of({ authorization: 'Basic b', cookie: 'a=1; svc_session=c; b=2' }), { text: 'c', from: 'cookie' });
  t.strictSame(of({ cookie: 'svc_session=c; __Host-svc_session=d' }), { text: 'd', from: 'cookie' });
  t.equal(of({ authorization: 'Basic b', cookie: 'xsvc_session=c' }), undefined);
});

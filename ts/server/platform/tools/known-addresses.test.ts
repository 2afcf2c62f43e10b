/** Addresses that a model goes to unasked, and those that it does not. */
import fc from 'fast-check';
import t from 'tap';
import { isSameSite, KnownAddresses } from './known-addresses.ts';

t.test('an address in the person’s words is known, with what a sentence puts behind it or without', async (t) => {
  const known = new KnownAddresses();
  known.addText('Read https://example.org/a?b=c, and (http://example.org/d). Then <https://example.org/e#part>!');
  for (const path of ['a?b=c', 'e', 'e#other']) t.ok(known.admits(`https://example.org/${path}`), path);
  t.ok(known.admits('http://example.org/d'));
  for (const path of ['', 'a', 'a?b=d', 'f']) t.notOk(known.admits(`https://example.org/${path}`), path);
  t.notOk(known.admits('no address'));
});

t.test('twenty links are followed, and named addresses beside them', async (t) => {
  const known = new KnownAddresses();
  known.add('https://example.org/');
  for (let i = 0; i < 30; i += 1) known.addLink(`https://example.org/${i}`);
  const followed = Array.from({ length: 30 }, (_, i) => known.admits(`https://example.org/${i}`));
  t.equal(followed.filter(Boolean).length, 20);
  t.ok(known.admits('https://example.org/'));
});

t.test('what was never added is not admitted, whatever was', async () => {
  fc.assert(
    fc.property(fc.webUrl({ withQueryParameters: true }), fc.webUrl({ withQueryParameters: true }), (a, b) => {
      const known = new KnownAddresses();
      known.add(a);
      return known.admits(a) && known.admits(b) === (new URL(a).href === new URL(b).href);
    }),
  );
});

t.test('a site is its host, with or without www', async (t) => {
  const site = (a: string, b: string) => isSameSite(new URL(a), new URL(b));
  t.ok(site('https://www.example.org/a', 'http://example.org:8080/b'));
  t.notOk(site('https://example.org/', 'https://example.org.evil.example/'));
  t.notOk(site('https://a.example.org/', 'https://b.example.org/'));
});

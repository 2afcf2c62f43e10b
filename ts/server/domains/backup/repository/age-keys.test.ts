import { Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import fc from 'fast-check';
import t from 'tap';
import { openSealed, sealFor } from './age-keys.ts';

const plain = Buffer.from('a key of thirty-two bytes, or so');
const identity = await generateX25519Identity();
const recipient = await identityToRecipient(identity);

t.test('a key that an earlier release sealed, with code of its own, is opened', async (t) => {
  const old = 'AGE-SECRET-KEY-1L87JPMQLHRRYFFNX8FX7EZL4C59KZFPLSULJFSJNFG3RYPAW2CXSQK3KAZ';
  const sealed = [
    'YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSBodUliV2JyNUphcVFLcEhXVG1sZkFhMUYrQlFPSEQ3eThWREtTVStQUlVJCk5KaXFuaH',
    'M0ZklWcEI5YmozaGUvYUgrTGpaTUMyNEZGT3NBZlF0WG9HRmsKLT4gWDI1NTE5IGZ5NnNjb1pHRTB4VDdJQkkvMDRSc0IybHdWTzMwLzhSZmVa',
    'bWhtMWpoaEEKbzg0clpTM0VYdEpoWWFvaEUweThQWGZUQlYwNDhtY3V3RWRRcHlXOEFFNAotLS0gN1NxeU80UUFZTzgvalB2TldOQTMxUkYvSk',
    'R1dnBXaVdaT0ZiQVNDVXlyVQou6MmlmU9w2ZVlBlMuP3LNJVH8LHhXwmlA0F/z1v+eM6KM5joaq2pCZhdUQtwbkAhDyY1UuyLAZ+gGvQfht5Xr',
  ].join('');
  t.strictSame(Buffer.from((await openSealed([old], Buffer.from(sealed, 'base64'))) ?? []), plain);
});

t.test('several private keys open what is sealed for one of them, and age’s own program opens it too', async (t) => {
  const other = await generateX25519Identity();
  const sealed = await sealFor([await identityToRecipient(other), recipient], plain);
  for (const identities of [[identity], [other], [await generateX25519Identity(), other]])
    t.strictSame(Buffer.from((await openSealed(identities, sealed)) ?? []), plain);
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  t.strictSame(Buffer.from(await decrypter.decrypt(sealed)), plain);
});

t.test('another private key, none, and a passphrase open nothing', async (t) => {
  const sealed = await sealFor([recipient], plain);
  t.equal(await openSealed([await generateX25519Identity()], sealed), undefined);
  t.equal(await openSealed([], sealed), undefined);
  t.equal(await openSealed([identity.replace(/.$/, 'B')], sealed), undefined, 'a typing error');
  const encrypter = new Encrypter();
  encrypter.setScryptWorkFactor(2);
  encrypter.setPassphrase('secret');
  t.equal(await openSealed([identity], await encrypter.encrypt(plain)), undefined);
});

t.test('a public key with a typing error seals nothing', async (t) => {
  const wrong = recipient.replace(/.$/, (letter) => (letter === 'q' ? 'p' : 'q'));
  await t.rejects(sealFor([recipient, wrong], plain), { code: 'passphrase_needed', message: /typing error/ });
});

t.test('what is damaged is not opened', async () => {
  const sealed = await sealFor([recipient], plain);
  const damage = fc.tuple(fc.nat(sealed.length - 1), fc.integer({ min: 1, max: 255 }), fc.boolean());
  await fc.assert(
    fc.asyncProperty(damage, async ([at, change, isCut]) => {
      const damaged = isCut ? sealed.subarray(0, at) : Buffer.from(sealed);
      if (!isCut) damaged[at] = (damaged[at] ?? 0) ^ change;
      return (await openSealed([identity], damaged)) === undefined;
    }),
    { numRuns: 200 },
  );
});

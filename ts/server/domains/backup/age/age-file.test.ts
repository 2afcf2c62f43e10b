/** Files of age beside those of its reference package, and files that are damaged. */
import { Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import fc from 'fast-check';
import t from 'tap';
import { decryptWith, encryptFor } from './age-file.ts';
import { decodeBech32, encodeBech32 } from './bech32.ts';
import { newPrivateKey, privateKeyOf, publicBytesOf } from './x25519.ts';

const bytesOf = (text: string) => decodeBech32(text)?.bytes ?? new Uint8Array();
const identity = await generateX25519Identity();
const recipient = await identityToRecipient(identity);
const privateKey = privateKeyOf(bytesOf(identity));
const plain = Buffer.from('a key of thirty-two bytes, or so');

t.test('keys are read and written as the reference has them', async (t) => {
  t.strictSame(Buffer.from(bytesOf(recipient)), publicBytesOf(privateKey));
  t.equal(encodeBech32({ prefix: 'age', bytes: publicBytesOf(privateKey) }), recipient);
  for (const wrong of [
    '',
    'age1',
    `${recipient.slice(0, -1)}b`,
    recipient.replace('age1', 'Age1'),
    recipient.replace(/.$/, 'q'),
  ]) {
    if (wrong !== recipient) t.equal(decodeBech32(wrong), undefined, wrong);
  }
});

t.test('the reference opens what is sealed here, and the other way round', async (t) => {
  const other = newPrivateKey();
  const sealed = encryptFor([publicBytesOf(other), bytesOf(recipient)], plain);
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  t.strictSame(Buffer.from(await decrypter.decrypt(sealed)), plain);
  t.strictSame(decryptWith([other], sealed), plain);
  const encrypter = new Encrypter();
  encrypter.addRecipient(await identityToRecipient(await generateX25519Identity()));
  encrypter.addRecipient(recipient);
  t.strictSame(decryptWith([other, privateKey], await encrypter.encrypt(plain)), plain);
});

t.test('who has another key, or a passphrase, opens nothing', async (t) => {
  t.equal(decryptWith([newPrivateKey()], encryptFor([bytesOf(recipient)], plain)), undefined);
  t.equal(decryptWith([], encryptFor([bytesOf(recipient)], plain)), undefined);
  const encrypter = new Encrypter();
  encrypter.setScryptWorkFactor(2);
  encrypter.setPassphrase('secret');
  t.equal(decryptWith([privateKey], await encrypter.encrypt(plain)), undefined);
});

t.test('a recipient that makes every secret nothing is refused, and so is what is too large', async (t) => {
  t.throws(() => encryptFor([new Uint8Array(32)], plain));
  t.throws(() => encryptFor([bytesOf(recipient)], new Uint8Array(65_537)), RangeError);
  t.equal(decryptWith([privateKey], encryptFor([bytesOf(recipient)], new Uint8Array(65_536)))?.length, 65_536);
});

t.test('any keys come back from their letters', async (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 70 }), (bytes) => {
      const back = decodeBech32(encodeBech32({ prefix: 'age', bytes }));
      return back?.prefix === 'age' && Buffer.from(bytes).equals(back.bytes);
    }),
  );
  t.pass('all came back');
});

t.test('a damaged file is none', async (t) => {
  const sealed = encryptFor([bytesOf(recipient)], plain);
  fc.assert(
    fc.property(fc.nat(sealed.length - 1), fc.integer({ min: 1, max: 255 }), fc.boolean(), (at, change, isCut) => {
      const damaged = isCut ? sealed.subarray(0, at) : Buffer.from(sealed);
      if (!isCut) damaged[at] = (damaged[at] ?? 0) ^ change;
      return decryptWith([privateKey], damaged) === undefined;
    }),
    { numRuns: 2_000 },
  );
  t.pass('none was opened');
});

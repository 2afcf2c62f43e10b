import t from 'tap';
import { ANONYMOUS } from '../../platform/http/principal.ts';
import { ownerOf } from './owner.ts';

t.test('accounts, keys without an account and the anonymous caller are never one another', async (t) => {
  const subjects = [
    ANONYMOUS,
    { ...ANONYMOUS, subject: 'anonymous' },
    { ...ANONYMOUS, subject: 'key:7' },
    { ...ANONYMOUS, keyId: '7' },
    { ...ANONYMOUS, keyId: 'user:7' },
    { ...ANONYMOUS, subject: '7' },
    { ...ANONYMOUS, subject: '' },
  ].map((caller) => ownerOf(caller).subject);
  t.equal(new Set(subjects).size, subjects.length);
  t.notOk(subjects.includes(''), 'which stands for what was erased');
  t.equal(ownerOf({ ...ANONYMOUS, subject: 'a', keyId: '1' }).subject, 'user:a', 'a key is its account');
});

import t from 'tap';
import { databaseDamaged } from './database-damage.ts';
import { Integrity } from './integrity.ts';

const damage = databaseDamaged('/data/svc.db', ['table notes: bad']);
const until = async (isTrue: () => boolean) => {
  while (!isTrue()) await new Promise(setImmediate);
};

t.test('a whole file is waited for, and not longer', async (t) => {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const integrity = new Integrity({ findDamage: () => promise }, 60_000);
  t.equal(integrity.isAwaited, false);
  integrity.begin();
  t.equal(integrity.isAwaited, true);
  resolve(undefined);
  await until(() => !integrity.isAwaited);
});

t.test('a file that takes long is not waited for, and its damage is told all the same', async (t) => {
  const { promise, resolve } = Promise.withResolvers<typeof damage>();
  const integrity = new Integrity({ findDamage: () => promise }, 1);
  integrity.begin();
  await until(() => !integrity.isAwaited);
  resolve(damage);
  t.equal(await integrity.damaged, damage);
});

t.test('a node whose file is damaged stays unready, and an error of its start is explained by the damage', async (t) => {
  const integrity = new Integrity({ findDamage: async () => damage }, 60_000);
  integrity.begin();
  t.equal(await integrity.damaged, damage);
  t.equal(integrity.isAwaited, true);
  t.equal(await integrity.causeOf({ code: 'storage_unavailable' }), damage);
  t.equal(await integrity.causeOf(new Error('something else')), undefined);
});

t.test('a file that cannot be checked is not called damaged', async (t) => {
  const findDamage = async () => {
    throw new Error('no memory');
  };
  const integrity = new Integrity({ findDamage }, 60_000);
  integrity.begin();
  await until(() => !integrity.isAwaited);
  t.equal(await integrity.causeOf({ code: 'storage_unavailable' }), undefined);
});

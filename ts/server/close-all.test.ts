import t from 'tap';
import { closeAll } from './close-all.ts';

const fail = (message: string) => async () => {
  throw new Error(message);
};

t.test('parts behind one that fails are closed too', async (t) => {
  const closed: string[] = [];
  const close = (name: string) => async () => closed.push(name);
  await t.rejects(closeAll([close('pool'), fail('the disk is gone'), close('lock')]), { message: 'the disk is gone' });
  t.strictSame(closed, ['pool', 'lock']);
});

t.test('several failures are told together', async (t) => {
  await t.rejects(closeAll([fail('one'), fail('two')]), { errors: [{ message: 'one' }, { message: 'two' }] });
});

t.resolves(closeAll([]), 'nothing to close');

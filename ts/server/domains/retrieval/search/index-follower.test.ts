import t from 'tap';
import { until } from '../../../platform/jobs/test-support/open-jobs.ts';
import { silentLog } from '../../../platform/module/test-support/scripted-context.ts';
import { tenantScope } from '../../../platform/storage/index.ts';
import type { Collection } from './collection.ts';
import { IndexFollower } from './index-follower.ts';

const red = tenantScope('red');
const collectionOf = (no: number) => ({ id: `kb${no}` }) as Collection;

function follow(load: () => Promise<void> = async () => undefined) {
  const loaded: string[] = [];
  const follower = new IndexFollower({
    store: { find: async (_, collection) => (collection.id === 'kb9' ? undefined : collection) },
    indexes: {
      load: async (_, { id }) => {
        loaded.push(id);
        await load();
      },
    },
    log: silentLog,
    pauseMs: 5,
  });
  return { follower, loaded };
}

t.test('what is added within a moment is loaded once, and each collection by itself', async (t) => {
  const { follower, loaded } = follow();
  for (const no of [1, 1, 2, 1, 9]) follower.note(red, collectionOf(no));
  await until(
    () => loaded,
    ({ length }) => length === 2,
  );
  t.strictSame(loaded, ['kb1', 'kb2'], 'and one that was removed is none');
  follower.note(red, collectionOf(1));
  await until(
    () => loaded,
    ({ length }) => length === 3,
  );
});

t.test('a failure does not end it', async (t) => {
  const { follower, loaded } = follow(() => Promise.reject(new Error('the disk is slow')));
  for (const n of [1, 2]) {
    follower.note(red, collectionOf(1));
    await until(
      () => loaded,
      ({ length }) => length === n,
    );
  }
  await follower.stop();
  t.pass();
});

t.test('when it has stopped nothing is loaded', async (t) => {
  const { follower, loaded } = follow();
  follower.note(red, collectionOf(1));
  await follower.stop();
  follower.note(red, collectionOf(2));
  t.strictSame(loaded, []);
  follower.start();
  follower.note(red, collectionOf(3));
  await until(
    () => loaded,
    ({ length }) => length === 1,
  );
});

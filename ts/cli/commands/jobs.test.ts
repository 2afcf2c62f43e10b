import t, { type Test } from 'tap';
import Type from 'typebox';
import { jobRoutes } from '../../server/domains/system/job-routes.ts';
import { openTestBed } from '../../server/platform/http/test-support/test-bed.ts';
import { JobFailedError } from '../../server/platform/jobs/index.ts';
import { openJobs, until } from '../../server/platform/jobs/test-support/open-jobs.ts';
import { tenantScope } from '../../server/platform/storage/index.ts';
import { newSqliteDatabase } from '../../server/platform/storage/test-support/each-database.ts';
import { runCli } from '../run-cli.ts';

// Each run of the program starts a process: half a second on an idle core.
t.setTimeout(300_000);

const scope = tenantScope('default');

async function open(t: Test) {
  const { url, remove } = await newSqliteDatabase();
  t.teardown(remove);
  const { jobs } = await openJobs(t, url);
  const proceed = Promise.withResolvers<void>();
  const queue = jobs.define({
    name: 'test.load',
    input: Type.Object({ fails: Type.Boolean() }),
    run: async ({ input, progress }) => {
      progress({ done: 500, total: 2_000, unit: 'bytes', message: 'reading' });
      await proceed.promise;
      if (input.fails) throw new JobFailedError('not_a_model', 'it is no model', 'name another');
      return { loaded: true };
    },
  });
  await jobs.start();
  const bed = await openTestBed(t, jobRoutes(jobs));
  return { jobs, queue, proceed, run: (args: string[]) => runCli(args, { env: { SVC_URL: bed.url } }) };
}

t.test('jobs are listed, shown and cancelled', async (t) => {
  const { queue, run } = await open(t);
  t.match(await run(['jobs', 'list']), { code: 0, stdout: 'no jobs\n' });
  const { id } = await queue.enqueue(scope, { fails: false });
  t.match((await run(['jobs', 'list'])).stdout, new RegExp(`^${id} +test\\.load +queued`, 'm'));
  t.match((await run(['jobs', 'list', '--state', 'queued', '--json'])).json(), [{ id, state: 'queued' }]);
  t.match((await run(['jobs', 'show', id])).stdout, /^state +queued$/m);
  t.match((await run(['jobs', 'cancel', id])).stdout, /is cancelled/);
  t.match(await run(['jobs', 'show', 'nothing']), { code: 4 });
});

t.test('following ends with the job, and fails with it', async (t) => {
  const { queue, run, proceed, jobs } = await open(t);
  queue.start();
  const good = await queue.enqueue(scope, { fails: false });
  const bad = await queue.enqueue(scope, { fails: true });
  await until(
    () => jobs.get(scope, good.id),
    ({ progress }) => progress?.done === 500,
  );
  t.match((await run(['jobs', 'list'])).stdout, /500 B of 2\.0 kB, reading/);
  proceed.resolve();
  t.match(await run(['jobs', 'follow', good.id]), { code: 0, stdout: /result +\{"loaded":true\}/ });
  t.match(await run(['jobs', 'follow', bad.id]), { code: 1, stderr: /failed: it is no model\s+name another/ });
});

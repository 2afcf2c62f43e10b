import t, { type Test } from 'tap';
import Type from 'typebox';
import type { Authenticator } from '../../platform/http/authenticator.ts';
import { ANONYMOUS, type Role } from '../../platform/http/principal.ts';
import { openTestBed } from '../../platform/http/test-support/test-bed.ts';
import type { JobView } from '../../platform/jobs/api/job-view.ts';
import { openJobs, until } from '../../platform/jobs/test-support/open-jobs.ts';
import { tenantScope } from '../../platform/storage/index.ts';
import { newSqliteDatabase } from '../../platform/storage/test-support/each-database.ts';
import { jobRoutes } from './job-routes.ts';

const scope = tenantScope('default');

/** Callers are named by a header: `ann`, or `ann admin`. */
const byHeader: Authenticator = {
  state: () => 'enforce',
  authenticate: ({ headers }) => {
    const [subject, role = 'viewer'] = (headers.get('x-caller') ?? '').split(' ');
    return { ...ANONYMOUS, kind: 'session', subject, roles: [role as Role], scopes: ['*'] };
  },
};

async function open(t: Test, authenticator?: Authenticator) {
  const { url, remove } = await newSqliteDatabase();
  t.teardown(remove);
  const { jobs } = await openJobs(t, url);
  const proceed = Promise.withResolvers<void>();
  const queue = jobs.define({
    name: 'test.load',
    input: Type.Object({ token: Type.Optional(Type.String()) }),
    run: async ({ progress, signal }) => {
      progress({ done: 1, total: 4, unit: 'bytes' });
      const aborted = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      await Promise.race([proceed.promise, aborted]);
      return { loaded: true };
    },
  });
  await jobs.start();
  queue.start();
  const bed = await openTestBed(t, jobRoutes(jobs), authenticator === undefined ? {} : { authenticator });
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${bed.url}/api/v1/system/jobs${path}`, init);
    return { status: response.status, body: (await response.json()) as JobView & { jobs: JobView[]; next: string | null } };
  };
  return { bed, jobs, queue, ask, proceed };
}

/** The data of each event, until the stream ends. */
async function readEvents(response: Response): Promise<{ id: string; job: JobView }[]> {
  const frames = (await response.text()).split('\n\n').filter((frame) => frame.startsWith('id:'));
  return frames.map((frame) => {
    const [id = '', , data = ''] = frame.split('\n');
    return { id: id.slice(4), job: JSON.parse(data.slice(6)) as JobView };
  });
}

t.test('jobs are listed in pages and shown one by one, without secrets', async (t) => {
  const { ask, queue } = await open(t);
  const ids: string[] = [];
  for (let i = 0; i < 3; i += 1) ids.unshift((await queue.enqueue(scope, { token: 'secret' })).id);
  const first = await ask('?limit=2');
  t.strictSame(
    first.body.jobs.map(({ id }) => id),
    ids.slice(0, 2),
  );
  const second = await ask(`?limit=2&before=${first.body.next}`);
  t.match(second.body, { jobs: [{ id: ids[2] }], next: null });
  t.match(await ask(`/${ids[0]}`), { status: 200, body: { kind: 'test.load', input: { token: '[redacted]' }, result: null } });
  t.match(await ask('?state=done'), { body: { jobs: [] } });
  t.equal((await ask('?state=lost')).status, 400);
  t.equal((await ask('?limit=0')).status, 400);
  t.match(await ask('/nothing'), { status: 404, body: { error: 'job_not_found' } });
});

t.test('a job is followed from its state to its end', async (t) => {
  const { bed, queue, proceed, jobs } = await open(t);
  const { id } = await queue.enqueue(scope, {});
  const url = `${bed.url}/api/v1/system/jobs/${id}/events`;
  const response = await fetch(url, { headers: { 'last-event-id': '7' } });
  t.equal(response.headers.get('content-type'), 'text/event-stream');
  await until(
    () => jobs.get(scope, id),
    ({ progress }) => progress?.done === 1,
  );
  proceed.resolve();
  const events = await readEvents(response);
  t.match(events.at(-1), { id: 'end', job: { state: 'done', result: { loaded: true }, progress: { done: 1, total: 4 } } });
  t.match(await readEvents(await fetch(url)), [{ id: 'end', job: { state: 'done' } }], 'whoever comes late sees the end');
  t.equal((await fetch(url, { headers: { 'last-event-id': 'end' } })).status, 204);
});

t.test('a running job is cancelled, and its followers see it', async (t) => {
  const { bed, ask, queue, jobs } = await open(t);
  const { id } = await queue.enqueue(scope, {});
  await until(
    () => jobs.get(scope, id),
    ({ state }) => state === 'running',
  );
  const response = await fetch(`${bed.url}/api/v1/system/jobs/${id}/events`);
  t.match(await ask(`/${id}/cancel`, { method: 'POST' }), { status: 200, body: { cancel_requested: true } });
  t.match((await readEvents(response)).at(-1), { job: { state: 'cancelled' } });
  t.match(await ask(`/${id}/cancel`, { method: 'POST' }), { status: 200, body: { state: 'cancelled' } }, 'again is no error');
});

t.test('a caller sees its own jobs, an administrator all of the tenant', async (t) => {
  const { ask, queue } = await open(t, byHeader);
  const { id } = await queue.enqueue(scope, {}, { owner: 'ann' });
  const as = (caller: string) => ({ headers: { 'x-caller': caller } });
  t.equal((await ask('', as('ann'))).body.jobs.length, 1);
  t.equal((await ask('', as('bob'))).body.jobs.length, 0);
  t.equal((await ask('', as('eve admin'))).body.jobs.length, 1);
  for (const [path, method] of [
    [`/${id}`, 'GET'],
    [`/${id}/events`, 'GET'],
    [`/${id}/cancel`, 'POST'],
  ] as const)
    t.match(await ask(path, { ...as('bob'), method }), { status: 404, body: { error: 'job_not_found' } }, `${method} ${path}`);
  t.match(await ask(`/${id}/cancel`, { ...as('eve admin'), method: 'POST' }), { status: 200 });
});

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { finishSwap } from '../../platform/files/staged-swap.ts';
import { newFolder } from '../../platform/files/test-support/new-folder.ts';
import { ANONYMOUS, scopeOf } from '../../platform/http/principal.ts';
import { openJobs, until, untilState } from '../../platform/jobs/test-support/open-jobs.ts';
import { scriptedNode, silentLog } from '../../platform/module/test-support/scripted-context.ts';
import { BackupService } from './service.ts';
import { accessTo, stateFiles, writeState } from './test-support/backed-node.ts';

t.setTimeout(120_000);
const scope = scopeOf(ANONYMOUS);

async function open(t: Test, { scheduleHours = 0, keep = 0, isVerifying = true, isElsewhere = false } = {}) {
  const root = newFolder(t);
  const dataDir = join(root, 'data');
  writeState(dataDir, 'first');
  writeFileSync(join(root, 'passphrase'), 'a passphrase of tests\n');
  const { jobs, storage } = await openJobs(t, `sqlite:${join(dataDir, 'svc.db')}`);
  const node = { ...scriptedNode, dataDir: isElsewhere ? join(root, 'elsewhere') : dataDir, stateFiles };
  const configuredFolder = join(root, 'backups');
  const access = accessTo(configuredFolder, join(root, 'passphrase'));
  const choices = { configuredFolder, scheduleHours, keep, isVerifying };
  const service = new BackupService({ node, storage, jobs, log: silentLog, access, ...choices });
  t.teardown(() => service.stop());
  await jobs.start();
  return { service, jobs, dataDir, root };
}

t.test('the schedule makes a backup when the newest is too old, and not before', async (t) => {
  const { service, jobs } = await open(t, { scheduleHours: 1 });
  await service.start();
  await until(
    () => service.list(),
    ({ length }) => length === 1,
  );
  await service.stop();
  await service.start();
  await new Promise((resolve) => setTimeout(resolve, 200));
  t.match(await jobs.list(scope), { length: 1, 0: { owner: 'schedule', kind: 'backup.create' } });
});

t.test('retention keeps the newest', async (t) => {
  const { service, jobs } = await open(t, { keep: 2 });
  await service.start();
  const made: unknown[] = [];
  for (let n = 0; n < 4; n += 1) {
    const { id } = await service.create(scope);
    made.push((await untilState(jobs, scope, id, 'done')).result);
  }
  const kept = (await service.list()).map(({ id }) => id);
  t.strictSame(kept.length, 2);
  t.match(made.at(-1), { id: kept.find((id) => id === (made.at(-1) as { id: string }).id), deleted_backups: 1 });
});

t.test('a new backup that cannot be restored fails, and deletes none of those before it', async (t) => {
  const { service, jobs, root } = await open(t, { keep: 1 });
  await service.start();
  const first = await untilState(jobs, scope, (await service.create(scope)).id, 'done');
  t.match(first.result, { verified: true });
  // Content that did not change is not written again: the second backup goes by what lies there.
  const chunks = join(root, 'backups', 'chunks');
  const files = readdirSync(chunks, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  t.ok(files.length > 0);
  for (const { parentPath, name } of files) writeFileSync(join(parentPath, name), Buffer.alloc(64, 'x'));
  const second = await untilState(jobs, scope, (await service.create(scope)).id, 'failed');
  t.match(second.error, { code: 'backup_damaged' });
  const { id } = first.result as { id: string };
  t.strictSame(
    (await service.list()).map((each) => each.id),
    [id],
    'the one before is still there and the newest, since one that cannot be restored is not listed',
  );
  t.match(service.health(), { reasons: [{ code: 'backup_failed', detail: /backup_damaged/ }] });
  const third = await untilState(jobs, scope, (await service.create(scope)).id, 'done');
  t.match(third.result, { verified: true }, 'what was damaged is written anew');
  t.match(service.health(), { reasons: [] });
});

t.test('damage in one chunk heals, and the older backups with it', async (t) => {
  const { service, jobs, root } = await open(t);
  await service.start();
  const first = await untilState(jobs, scope, (await service.create(scope)).id, 'done');
  const { id } = first.result as { id: string };
  const [file] = (await service.get(id)).files.filter(({ path }) => path === 'data/blobs/ab/large');
  const [name = ''] = file?.chunks ?? [];
  writeFileSync(join(root, 'backups', 'chunks', name.slice(0, 2), name), 'x');
  await untilState(jobs, scope, (await service.create(scope)).id, 'failed');
  await untilState(jobs, scope, (await service.create(scope)).id, 'done');
  await untilState(jobs, scope, (await service.verify(scope, id)).id, 'done');
});

t.test('a node that is told not to verify says so of its backups', async (t) => {
  const { service, jobs } = await open(t, { isVerifying: false });
  await service.start();
  t.match((await untilState(jobs, scope, (await service.create(scope)).id, 'done')).result, { verified: false });
});

t.test('a destination inside the node\u2019s own state is refused, and another one is kept over a restart', async (t) => {
  const { service, dataDir, root } = await open(t);
  const refused = [
    'relative',
    dataDir,
    join(dataDir, 'models'),
    join(dataDir, 'backups', '..', 'x'),
    join(dataDir, 'node.json', 'x'),
  ];
  for (const folder of refused) await t.rejects(service.setDestination(folder), { code: 'invalid_destination' }, folder);
  await service.setDestination(join(root, 'other'));
  t.strictSame(await service.destination(), { folder: join(root, 'other'), kind: 'folder', encrypted: undefined });
});

t.test(
  'a schedule that is set while the node runs holds at once, survives a restart, and goes back to that of the settings',
  async (t) => {
    const { service, dataDir, root } = await open(t, { scheduleHours: 0, keep: 3 });
    t.strictSame(await service.schedule(), { hours: 0, keep: 3, isChosen: false, nextAt: undefined });
    await service.setDestination(join(root, 'other'));
    await service.setSchedule({ hours: 2, keep: 5 });
    t.match(await service.schedule(), { hours: 2, keep: 5, isChosen: true, nextAt: Number });
    t.match(JSON.parse(readFileSync(join(dataDir, 'backup.json'), 'utf8')), {
      folder: join(root, 'other'),
      schedule: { hours: 2, keep: 5 },
    });
    await service.start();
    await until(
      () => service.list(),
      ({ length }) => length === 1,
    );
    const { nextAt = 0 } = await service.schedule();
    t.ok(nextAt > Date.now() + 3_000_000, 'the next one comes two hours after the newest');
    await service.setSchedule(undefined);
    t.match(await service.schedule(), { hours: 0, keep: 3, isChosen: false });
    t.match(await service.destination(), { folder: join(root, 'other') }, 'the destination stays');
  },
);

t.test('a file of choices that was written by hand, and wrongly, is told and not believed', async (t) => {
  const { service, dataDir } = await open(t);
  writeFileSync(join(dataDir, 'backup.json'), '{"schedule":{"hours":-1,"keep":1}}');
  await t.rejects(service.schedule(), { code: 'invalid_destination' });
  await service.setSchedule({ hours: 0, keep: 1 });
  t.match(await service.schedule(), { hours: 0, keep: 1, isChosen: true });
});

t.test('a restore while the node serves is refused where its database is not in its data folder', async (t) => {
  const { service } = await open(t, { isElsewhere: true });
  await t.rejects(service.restore(scope, 'latest'), { code: 'restore_by_command', message: /svc backup restore latest --force/ });
});

t.test('a restore that is decided leaves the files alone until the lock is taken again', async (t) => {
  const { service, jobs, dataDir } = await open(t);
  await service.start();
  const { result } = await untilState(jobs, scope, (await service.create(scope)).id, 'done');
  writeState(dataDir, 'second');
  const { job, backup } = await service.restore(scope, 'latest');
  t.match(result, { id: backup });
  await untilState(jobs, scope, job.id, 'done');
  t.match(readFileSync(join(dataDir, 'sealing.key'), 'utf8'), /second/);
  await t.rejects(service.restore(scope, 'latest'), { code: 'restart_pending' });
  await finishSwap(dataDir);
  t.match(readFileSync(join(dataDir, 'sealing.key'), 'utf8'), /first/);
});

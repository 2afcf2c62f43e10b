/**
 * `npm run matrix`: every route x role x kind and state of credential x own, foreign and unknown ids, and each kind of limit x ids beyond it. With `-- --public` at the public
 * listener, with `-- --member` at a member of a cluster, with `-- --postgres` on a PostgreSQL of its own. The last line is `N passed, N failed`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { PostgresCluster } from '../ts/server/platform/storage/test-support/postgres-cluster.ts';
import { runLimited } from './matrix/limited.ts';
import { runMatrix } from './matrix/matrix.ts';

const { values } = parseArgs({
  options: { public: { type: 'boolean' }, member: { type: 'boolean' }, postgres: { type: 'boolean' } },
});
const folder = mkdtempSync(join(tmpdir(), 'svc-matrix-'));
const cluster = values.postgres ? await PostgresCluster.start() : undefined;
try {
  const databaseUrl = await cluster?.newDatabase();
  const all = await runMatrix({
    folder: join(folder, 'all'),
    isPublic: values.public === true,
    isMember: values.member === true,
    databaseUrl,
  });
  const limited = await runLimited(join(folder, 'limited'));
  const faults = [...all.faults, ...limited.faults];
  for (const fault of faults) console.log(fault);
  console.log(`${all.nRoutes} routes, ${limited.nRoutes} of them by limits`);
  console.log(`${all.nPassed + limited.nPassed} passed, ${faults.length} failed`);
  process.exitCode = faults.length === 0 ? 0 : 1;
} finally {
  await cluster?.remove();
  rmSync(folder, { recursive: true, force: true });
}

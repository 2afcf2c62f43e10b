import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { silentLog } from '../../platform/module/test-support/scripted-context.ts';
import { Maintenance, type MaintenanceDeps } from './maintenance.ts';

t.test('while the database hangs no looks at it pile up', async (t) => {
  mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  t.teardown(() => mock.timers.reset());
  let nLooks = 0;
  const answer = Promise.withResolvers<void>();
  const done = async (): Promise<void> => undefined;
  const refresh = (): Promise<void> => {
    nLooks += 1;
    return nLooks === 1 ? answer.promise : done();
  };
  const maintenance = new Maintenance({
    authentication: { refresh },
    tenants: { refresh: done },
    changes: { isLive: true, catchUp: done },
    credentials: { removeExpired: done, writeLastUses: done },
    cache: { takeLastUses: () => new Map() },
    sessionIdleMs: 1,
    isAlone: false,
    log: silentLog,
  } as unknown as MaintenanceDeps);
  maintenance.start();
  for (let second = 0; second < 20; second += 1) {
    mock.timers.tick(1_000);
    await turn();
  }
  t.equal(nLooks, 1);
  answer.resolve();
  for (let i = 0; i < 20; i += 1) await turn();
  t.ok(nLooks <= 2, `${nLooks} looks`);
  await maintenance.stop();
});

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { checkScopeMakers } from './scope-makers.ts';

function check(t: Test, path: string, source: string) {
  const root = t.testdir();
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), source);
  return checkScopeMakers(root);
}

t.test('only the executor of the module edge may run a tool', async (t) => {
  const source = "import { runTool, type Tool } from '../../../platform/tools/tool.ts';";
  const path = 'ts/server/domains/swarm/steps/step.ts';
  t.strictSame(check(t, path, source).violations, [`only-the-executor-runs-tools: ${path} -> runTool`]);
  t.strictSame(check(t, 'ts/server/domains/edge/calls/tool-executor.ts', source).violations, []);
  t.strictSame(check(t, 'ts/server/domains/edge/calls/other.test.ts', source).violations.length, 1, 'tests do not either');
});

const refused: [path: string, source: string, name: string][] = [
  ['ts/server/domains/data/service.ts', "import { tenantScope } from '../../platform/storage/index.ts';", 'tenantScope'],
  [
    'ts/server/domains/data/a.ts',
    "import { type Storage, systemScope as all } from '../../platform/storage/tenant-scope.ts';",
    'systemScope',
  ],
  ['ts/server/domains/data/a.ts', "import * as storage from '../../platform/storage/index.ts';", '*'],
  ['ts/server/domains/data/a.ts', "export { tenantScope } from '../../platform/storage/index.ts';", 'tenantScope'],
  ['ts/server/platform/http/router.ts', "import { tenantScope } from '../storage/index.ts';", 'tenantScope'],
  ['ts/cli/migrate.ts', "export * from '../server/platform/storage/index.ts';", '*'],
];

for (const [path, source, name] of refused) {
  t.test(`${path} may not say ${source}`, async (t) => {
    t.strictSame(check(t, path, source).violations, [`only-identity-and-storage-make-scopes: ${path} -> ${name}`]);
  });
}

const accepted: [path: string, source: string][] = [
  ['ts/server/domains/identity/service.ts', "import { tenantScope } from '../../platform/storage/index.ts';"],
  ['ts/server/platform/http/principal.ts', "import { tenantScope } from '../storage/index.ts';"],
  ['ts/server/platform/storage/migrations/run.ts', "import { systemScope } from '../tenant-scope.ts';"],
  ['ts/server/domains/data/store.test.ts', "import { tenantScope } from '../../platform/storage/index.ts';"],
  ['ts/server/domains/data/store.ts', "import type { TenantScope } from '../../platform/storage/index.ts';"],
  ['ts/server/domains/data/store.ts', "import { tenantScope } from './storage/index.ts';"],
];

for (const [path, source] of accepted) {
  t.test(`${path} may say ${source}`, async (t) => {
    t.strictSame(check(t, path, source), { nFiles: 1, violations: [] });
  });
}

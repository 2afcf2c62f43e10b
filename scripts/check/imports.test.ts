import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { checkImports } from './imports.ts';

/** Writes a small tree laid out like the repository and checks it. */
function check(t: Test, files: Record<string, string>) {
  const root = t.testdir();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return checkImports(root);
}

const inference = {
  'ts/server/domains/inference/index.ts': 'export const a = 1;',
  'ts/server/domains/inference/service.ts': 'export const b = 1;',
};

t.test('a higher module may enter a lower one through its index', async (t) => {
  const report = await check(t, {
    ...inference,
    'ts/server/domains/data/service.ts': "import { a } from '../inference/index.ts';\nconsole.log(a);",
  });
  t.equal(report.nModules, 3);
  t.strictSame(report.violations, []);
});

t.test('what a file imports is told, types left out', async (t) => {
  const { imports } = await check(t, {
    ...inference,
    'ts/server/domains/inference/types.ts': 'export interface C { c: 1 }',
    'ts/server/domains/inference/routes.ts': [
      "import type { C } from './types.ts';",
      "import type { B } from './service.ts';",
      "import { b, type D } from './service.ts';",
      'export const c: C & B & D = b;',
    ].join('\n'),
  });
  t.strictSame(imports.get('ts/server/domains/inference/routes.ts'), ['ts/server/domains/inference/service.ts']);
});

const violations: [rule: string, path: string, source: string][] = [
  ['tier-1-imports-only-lower-tiers', 'ts/server/domains/identity/service.ts', "export * from '../inference/index.ts';"],
  ['tier-2-imports-only-lower-tiers', 'ts/server/domains/media/service.ts', "export * from '../inference/index.ts';"],
  ['modules-meet-at-index', 'ts/server/domains/data/service.ts', "export * from '../inference/service.ts';"],
  ['modules-meet-at-index', 'ts/server/domains/data/types.ts', "export type { b } from '../inference/service.ts';"],
  ['main-enters-modules-through-index', 'ts/server/main.ts', "export * from './domains/inference/service.ts';"],
  ['every-module-has-a-tier', 'ts/server/domains/misc/service.ts', "export * from '../inference/index.ts';"],
  ['lower-floors-know-no-domain', 'ts/server/platform/http/router.ts', "export * from '../../domains/inference/index.ts';"],
  ['lower-floors-know-no-domain', 'ts/workers/hash.ts', "export * from '../server/domains/inference/index.ts';"],
  ['extraction-imports-nothing-of-the-server', 'ts/server/extraction/a.ts', "export * from '../domains/inference/index.ts';"],
  ['only-exchange-imports-uwebsockets', 'ts/server/platform/http/router.ts', "export * from 'uWebSockets.js';"],
  ['test-support-is-for-tests', 'ts/server/domains/inference/a.ts', "export * from './test-support/fake.ts';"],
  ['resolvable', 'ts/server/platform/log/log.ts', "export * from './gone.ts';"],
];

for (const [rule, path, source] of violations) {
  t.test(`${rule} refuses ${source}`, async (t) => {
    const report = await check(t, { ...inference, [path]: source });
    t.ok(
      report.violations.some((violation) => violation.startsWith(`${rule}: ${path} -> `)),
      report.violations.join('\n'),
    );
  });
}

t.test('what worker threads run may know the types of a database, and not load it', async (t) => {
  const reader = 'ts/server/domains/completions/body-readers.ts';
  const files = (first: string) => ({
    [reader]: `${first}\nexport const a = 1;`,
    'ts/server/domains/completions/request.ts': "export { open } from '../../platform/storage/index.ts';\nexport type C = 1;",
    'ts/server/platform/storage/index.ts': 'export const open = 1;',
  });
  t.strictSame((await check(t, files("import type { C } from './request.ts';\nexport type D = C;"))).violations, []);
  t.match((await check(t, files("export * from './request.ts';"))).violations, [
    `code-shared-with-workers-is-pure: ${reader} -> ts/server/platform/storage/index.ts`,
  ]);
});

t.test('two files that import each other are a cycle', async (t) => {
  const report = await check(t, {
    'ts/server/platform/log/a.ts': "export * from './b.ts';",
    'ts/server/platform/log/b.ts': "export * from './a.ts';",
  });
  t.match(report.violations, [/^no-cycle/]);
});

t.test('a tool that sees nothing is not green', async (t) => {
  t.match(await check(t, {}), { nModules: 0 });
});

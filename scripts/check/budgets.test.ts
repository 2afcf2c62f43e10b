import t from 'tap';
import { folderCycles, literalSpreads, moduleSizes } from './budgets.ts';
import { checkUnusedExports } from './unused-exports.ts';

const sources = (files: Record<string, string>) => new Map(Object.entries(files));

t.test('two folders of a module that import each other are found once, and one way is none', async (t) => {
  const [a, b] = ['ts/server/domains/m/a/x.ts', 'ts/server/domains/m/b/deep/y.ts'];
  t.strictSame(folderCycles(new Map([[a, [b]]])), []);
  const cycle = new Map([
    [a, [b, 'ts/server/domains/other/a/z.ts']],
    ['ts/server/domains/m/b/deep/z.ts', [a]],
    ['ts/server/domains/other/a/z.ts', [a]],
  ]);
  t.strictSame(folderCycles(cycle), ['m/a m/b/deep']);
});

t.test('the files of a module itself wire its folders, and tests may see both sides', async (t) => {
  const [inner, outer] = ['ts/server/domains/m/a/x.ts', 'ts/server/domains/m/index.ts'];
  t.strictSame(
    folderCycles(
      new Map([
        [inner, [outer]],
        [outer, [inner]],
      ]),
    ),
    [],
  );
  const test = new Map([
    ['ts/server/domains/m/a/x.ts', ['ts/server/domains/m/b/y.ts']],
    ['ts/server/domains/m/b/y.test.ts', ['ts/server/domains/m/a/x.ts']],
  ]);
  t.strictSame(folderCycles(test), []);
});

t.test('what an object literal spreads of another is found, and what it spreads of a value is not', async (t) => {
  const dots = '...';
  const text = `const a = {\n  ${dots}{ b: 1 },\n  ...c,\n  ...(d && { e }),\n};\nf({ ${dots}{ g } });\n`;
  t.strictSame(literalSpreads(sources({ 'ts/a.ts': text })), ['ts/a.ts:2', 'ts/a.ts:6']);
});

t.test('the size of a part is that of its files without tests', async (t) => {
  const sizes = moduleSizes(
    sources({
      'ts/server/domains/m/index.ts': 'a\nb\n',
      'ts/server/domains/m/deep/x.ts': 'c\n',
      'ts/server/domains/m/deep/x.test.ts': 'd\n',
      'ts/server/domains/m/test-support/y.ts': 'e\n',
      'ts/server/platform/http/z.ts': 'f\n',
      'bench/main.ts': 'g\n',
    }),
  );
  t.strictSame(
    [...sizes],
    [
      ['server/domains/m', [2, 3]],
      ['server/platform', [1, 1]],
    ],
  );
});

const used: [how: string, importer: string][] = [
  ['by its name', "import { a } from './x.ts';"],
  ['as a type', "import type { a } from './x.ts';"],
  ['under another name', "import { type A, a as b } from './x.ts';"],
  ['on several lines', "import {\n  a,\n  c,\n} from './x.ts';"],
  ['of all that there is', "import * as x from './x.ts';\nx.a();"],
  ['taken out of all that there is', "import * as x from './x.ts';\nconst { a } = x;"],
  ['passed on', "export { a } from './x.ts';"],
  ['passed on with the rest', "export * from './x.ts';"],
  ['when it is needed', "const x = await import('./x.ts');"],
  ['in a thread', "new Worker(new URL('./x.ts', import.meta.url));"],
];

for (const [how, importer] of used) {
  t.test(`an export that is imported ${how} is used`, async (t) => {
    t.strictSame(checkUnusedExports(sources({ 'ts/x.ts': 'export function a() {}\n', 'ts/y.ts': importer })).unused, []);
  });
}

t.test('values and types that no file imports are told apart; a program exports for those that start it', async (t) => {
  const files = {
    'ts/x.ts': 'export const a = 1;\nexport interface B {}\nexport async function c() {}\nexport { d, type E } from "./z.ts";\n',
    'ts/y.ts': "import { a } from './x.ts';\n",
    'ts/main.ts': 'export const f = 1;\n',
  };
  const { nExports, unused, unusedTypes } = checkUnusedExports(sources(files));
  t.equal(nExports, 5);
  t.strictSame(unused, ['ts/x.ts: c', 'ts/x.ts: d']);
  t.strictSame(unusedTypes, ['ts/x.ts: B', 'ts/x.ts: E']);
});

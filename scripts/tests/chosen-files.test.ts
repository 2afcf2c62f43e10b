import t from 'tap';
import { Budgets } from './budgets.ts';
import { chooseFiles } from './chosen-files.ts';
import { ImportGraph } from './import-graph.ts';
import { ModuleMap } from './module-map.ts';

const dear = ['test/a.test.ts', 'test/b.test.ts', 'test/c.test.ts', 'ts/server/d.test.ts', 'native/llama/test/e.test.ts'];
const cheap = ['ts/cheap.test.ts', 'ts/new.test.ts'];
const files = [...cheap, ...dear];
const server = "import './server.ts';";
const root = t.testdir({
  test: { 'a.test.ts': server, 'b.test.ts': server, 'c.test.ts': server, 'server.ts': "'../ts/cli/svc.ts'" },
  native: { llama: { test: { 'e.test.ts': "import '../../../ts/server/native/llama.ts';" } } },
  ts: {
    'cheap.test.ts': '',
    'new.test.ts': '',
    cli: { 'svc.ts': "import '../server/d.ts';" },
    server: {
      'd.test.ts': "import { d } from './d.ts';",
      'd.ts': "import './platform/deep/e.ts';",
      platform: { deep: { 'e.ts': '' } },
      native: { 'llama.ts': '' },
    },
  },
});
const cost = (file: string, cpuSeconds: number) => [file, { wallSeconds: 1, cpuSeconds }] as const;
const known = {
  budgets: new Budgets([cost('ts/cheap.test.ts', 4), ...dear.map((file, i) => cost(file, 20 - i))]),
  graph: new ImportGraph(root),
  modules: new ModuleMap([
    ['test/a.test.ts', ['ts/server/domains/data']],
    ['test/b.test.ts', ['ts/server/domains/backup', 'ts/cli']],
    ['test/z.test.ts', ['ts/server/platform/deep']],
  ]),
};

/** The dear ones that run after a change, at a commit whose turn is that of no file. */
function reachedBy(...paths: string[]): string[] {
  const runs = [0, 1, 2, 3].map((nCommits) => chooseFiles(files, { paths: new Set(paths), nCommits }, known).files);
  return dear.filter((file) => runs.every((run) => run.includes(file)));
}

t.test('cheap and new files always run, and each dear one in one of four commits', async (t) => {
  const runs = [4, 5, 6, 7].map((nCommits) => chooseFiles(files, { paths: new Set(), nCommits }, known).files);
  for (const run of runs) t.ok(cheap.every((file) => run.includes(file)));
  for (const file of dear) t.equal(runs.filter((run) => run.includes(file)).length, 1, file);
  t.ok(
    runs.every((run) => run.length <= 4),
    'a turn is a quarter',
  );
});

t.test('a dear file runs when it, what it imports or what that imports changed', async (t) => {
  t.strictSame(reachedBy('README.md'), []);
  t.strictSame(reachedBy('test/b.test.ts'), ['test/b.test.ts']);
  t.strictSame(reachedBy('ts/server/platform/deep/e.ts'), ['test/c.test.ts', 'ts/server/d.test.ts']);
});

t.test('a file that runs svc runs when a module changed that it reaches, and when nobody knows which', async (t) => {
  t.strictSame(reachedBy('ts/server/domains/data/service.ts'), ['test/a.test.ts', 'test/c.test.ts']);
  t.strictSame(reachedBy('ts/cli/commands/backup.ts'), ['test/b.test.ts', 'test/c.test.ts']);
  t.strictSame(reachedBy('ts/server/domains/data/service.test.ts'), []);
});

t.test('sources of the addons reach all that loads them', async (t) => {
  t.strictSame(
    reachedBy('native/llama/engine/scheduler.cpp'),
    dear.filter((file) => file !== 'ts/server/d.test.ts'),
  );
  t.strictSame(reachedBy('native/llama/test/other.test.ts'), []);
});

t.test('what all tests stand on runs all of them, and so does a change that nobody knows', async (t) => {
  const foundations = [
    'package-lock.json',
    'native/sources.json',
    'scripts/setup/native.mjs',
    'scripts/tests/run.ts',
    'test/server.ts',
  ];
  for (const path of [...foundations, 'test/test-support/rounds.ts', 'CMakeLists.txt', 'ts/cli/run-cli.ts']) {
    const choice = chooseFiles(files, { paths: new Set([path]), nCommits: 0 }, known);
    t.strictSame(choice.files, files, path);
    t.match(choice.why, path);
  }
  t.match(chooseFiles(files, 'the clone is shallow', known), { files, why: 'every file: the clone is shallow' });
});

t.test('a contract runs on each database when its file or what it imports changed', async (t) => {
  const root = t.testdir({ ts: { 'x.contract.ts': "import './y.ts';", 'y.ts': '' } });
  const names = ['ts/x.contract.ts [postgres]', 'ts/x.contract.ts [sqlite]'];
  const budgets = new Budgets(names.map((name) => cost(name, 20)));
  const world = { budgets, graph: new ImportGraph(root), modules: new ModuleMap([]) };
  const chosen = (path: string, nCommits: number) => chooseFiles(names, { paths: new Set([path]), nCommits }, world).files;
  for (const path of ['ts/x.contract.ts', 'ts/y.ts']) t.strictSame(chosen(path, 3), names);
  t.strictSame(chosen('README.md', 0), names.slice(0, 1), 'each in its own turn');
});

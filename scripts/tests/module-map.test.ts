import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { functionsRun, modulesRun } from './coverage.ts';
import { ModuleMap, moduleOf } from './module-map.ts';

t.test('a module is the folder that changes as one', async (t) => {
  const modules = {
    'ts/server/domains/data/ingest/ingest.ts': 'ts/server/domains/data',
    'ts/server/platform/http/router.ts': 'ts/server/platform/http',
    'ts/server/native/llama.ts': 'ts/server/native',
    'ts/server/main.ts': 'ts/server',
    'ts/cli/commands/kb.ts': 'ts/cli',
    'ts/server/domains/data/data.test.ts': undefined,
    'ts/server/domains/data/test-support/bed.ts': undefined,
    'test/server.ts': undefined,
  };
  for (const [path, module] of Object.entries(modules)) t.equal(moduleOf(path), module, path);
});

t.test('what ran beside a start is what the map must name', async (t) => {
  const root = t.testdir({ start: {}, test: {} });
  const script = (path: string, offsets: Record<number, number>, url = pathToFileURL(join(root, path)).href) => ({
    url,
    functions: Object.entries(offsets).map(([startOffset, count]) => ({
      functionName: startOffset === '0' ? '' : 'f',
      ranges: [{ startOffset: Number(startOffset), count }],
    })),
  });
  const write = (folder: string, name: string, result: object[]) => {
    mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, folder, name), JSON.stringify({ result }));
  };
  write('start', '1.json', [script('ts/server/main.ts', { 0: 1, 5: 1 }), script('ts/server/domains/data/a.ts', { 0: 1, 5: 0 })]);
  write('ran', '1.json', [script('ts/server/main.ts', { 0: 1, 5: 1 }), script('', {}, 'node:fs')]);
  write('ran', '2.json', [script('ts/server/domains/data/a.ts', { 0: 1, 5: 2 }), script('ts/cli/b.ts', { 0: 1, 9: 0 })]);
  const ran = modulesRun(functionsRun(join(root, 'ran'), root), functionsRun(join(root, 'start'), root));
  t.strictSame([...ran], [['ts/server/domains/data', 1]]);
  writeFileSync(join(root, 'ran', '3.json'), '{"result":[{"url":"file');
  t.equal(functionsRun(join(root, 'ran'), root).size, 2, 'a server that was killed while it wrote says nothing');
  const map = new ModuleMap([
    ['a', ['ts/cli']],
    ['b', ['ts/server/domains/backup']],
  ]);
  t.strictSame(map.missing('a', ran.keys()), ['ts/server/domains/data'], 'a map that lies');
  t.strictSame(map.missing('new', ran.keys()), []);
  map.with('a', ran.keys()).write(root);
  t.strictSame(ModuleMap.read(root).missing('a', ran.keys()), []);
  t.ok(ModuleMap.read(root).isReached('a', new Set(['ts/server/domains/data/b.ts'])));
  t.ok(ModuleMap.read(root).isReached('a', new Set(['ts/server/domains/new/b.ts'])), 'a module that is new');
  t.notOk(ModuleMap.read(root).isReached('a', new Set(['ts/server/domains/backup/b.ts', 'README.md'])));
});

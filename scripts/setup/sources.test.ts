import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { FakeRegistry } from './fake-registry.ts';
import { fetchSource, type Pin, readPins, sourceFolder } from './sources.mjs';

const registry = await FakeRegistry.start('carrier', { 'src/tree/include/it.h': '// it\n' });
t.teardown(() => registry.stop());

const pin: Pin = {
  package: 'carrier',
  version: '1.0.0',
  integrity: registry.integrity,
  folder: 'src/tree',
  marker: 'include/it.h',
  upstreamVersion: '1',
  license: 'MIT',
  override: 'SVC_CARRIER_DIR',
};

function workFolders(env: NodeJS.ProcessEnv): string[] {
  return readdirSync(join(env['SVC_CACHE_DIR'] ?? '', 'sources')).filter((name) => name.startsWith('.work-'));
}

t.test('every pinned source has a sha512, a place in its package and an override', (t) => {
  for (const { integrity, folder, bundle, override } of Object.values(readPins())) {
    t.match(integrity, /^sha512-[A-Za-z0-9+/]{86}==$/);
    t.ok(folder ?? bundle);
    t.match(override, /^SVC_[A-Z_]+_DIR$/);
  }
  t.end();
});

t.test('a source is unpacked from its place in the package, and its temporary folder is gone', async (t) => {
  const env = registry.environment();
  const folder = await fetchSource(pin, env);
  t.equal(readFileSync(join(folder, 'include/it.h'), 'utf8'), '// it\n');
  t.same(workFolders(env), []);
});

t.test('a source that is there is not asked for again', async (t) => {
  const env = registry.environment();
  const folder = await fetchSource(pin, env);
  t.equal(await fetchSource(pin, { ...env, npm_config_registry: 'http://127.0.0.1:1/' }), folder);
});

t.test('bytes that do not match the integrity are refused and leave nothing', async (t) => {
  const env = registry.environment();
  const other = { ...pin, integrity: `sha512-${'A'.repeat(86)}==` };
  await t.rejects(fetchSource(other, env), { name: 'SetUpError', message: /does not match native\/sources\.json/ });
  t.notOk(existsSync(sourceFolder(other, env)));
  t.same(workFolders(env), []);
});

t.test('what an interrupted run left is neither taken for the source nor kept for ever', async (t) => {
  const env = registry.environment();
  const left = join(env['SVC_CACHE_DIR'] ?? '', 'sources', '.work-1-dead');
  mkdirSync(join(left, 'source', 'include'), { recursive: true });
  writeFileSync(join(left, 'source', 'include', 'it.h'), '// half');
  utimesSync(left, 0, 0);
  const folder = await fetchSource(pin, env);
  t.equal(readFileSync(join(folder, 'include/it.h'), 'utf8'), '// it\n');
  t.notOk(existsSync(left));
});

t.test('two clones that fetch at once both get the whole source', async (t) => {
  const env = registry.environment();
  const [one, two] = await Promise.all([fetchSource(pin, env), fetchSource(pin, env)]);
  t.equal(one, two);
  t.ok(existsSync(join(one, pin.marker)));
});

t.test('a tree of the user replaces the package', async (t) => {
  const tree = mkdtempSync(join(tmpdir(), 'svc-tree-'));
  mkdirSync(join(tree, 'include'));
  writeFileSync(join(tree, 'include', 'it.h'), '');
  t.equal(await fetchSource(pin, { SVC_CARRIER_DIR: tree }), tree);
});

t.test('a user tree without the source names the variable', async (t) => {
  const tree = mkdtempSync(join(tmpdir(), 'svc-tree-'));
  await t.rejects(fetchSource(pin, { SVC_CARRIER_DIR: tree }), {
    name: 'SetUpError',
    message: /SVC_CARRIER_DIR=.* has no include\/it\.h/,
  });
});

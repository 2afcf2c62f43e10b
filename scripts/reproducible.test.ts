/** Compiled libraries are the same bytes wherever sources, cache and build folder lie. A part of upstream's code and of ours is compiled twice, without a compiler cache. */
import { execFile } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { checkout } from './setup/paths.mjs';
import { getPreset } from './setup/presets.mjs';
import { readPins, sourceFolder } from './setup/sources.mjs';
import { findProgram } from './setup/tools.mjs';

const run = promisify(execFile);
const isFull = process.env['SVC_TEST_FULL'] === '1';
const skip = !isFull ? 'npm run test:full compiles them' : findProgram('ninja') === undefined && 'ninja is not installed';

/** A checkout, a cache with the pinned sources, and a build folder, all below `root`. Returns the built files. */
async function build(root: string, targets: readonly string[]): Promise<string[]> {
  const [source, sources, folder] = ['checkout', 'cache/sources', 'cache/build'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  for (const each of [source, sources, folder]) mkdirSync(each, { recursive: true });
  for (const file of ['CMakeLists.txt', 'CMakePresets.json', 'native'])
    cpSync(join(checkout, file), join(source, file), { recursive: true });
  symlinkSync(join(checkout, 'node_modules'), join(source, 'node_modules'));
  const pins = Object.values(readPins());
  for (const pin of pins) symlinkSync(sourceFolder(pin), join(sources, pin.package));
  const definitions = {
    ...getPreset('release').cacheVariables,
    ...Object.fromEntries(pins.map(({ override, package: name }) => [override, join(sources, name)])),
    SVC_CCACHE: '',
  };
  const options = Object.entries(definitions).map(([name, value]) => `-D${name}=${value}`);
  await run('cmake', ['-S', source, '-B', folder, '-G', 'Ninja', ...options], { maxBuffer: 1 << 26 });
  await run('cmake', ['--build', folder, '--parallel', '2', '--target', ...targets], {
    maxBuffer: 1 << 26,
    env: { ...process.env, CCACHE_DISABLE: '1' },
  });
  return globSync('**/{gguf.cpp.o,svc_confine,libsvc-compute-team.so.*}', { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

t.test('two builds in different folders are the same bytes', { skip, timeout: 290_000 }, async (t) => {
  const folder = t.testdir();
  const targets = ['native/llama-cpp/llama.cpp/ggml/src/CMakeFiles/ggml-base.dir/gguf.cpp.o', 'svc-compute-team', 'svc_confine'];
  const first = await build(join(folder, 'one'), targets);
  const second = await build(join(folder, 'a/deeper/two'), targets);
  t.equal(first.length, targets.length, first.join(', '));
  t.equal(second.length, first.length);
  for (const [i, file] of first.entries()) t.ok(readFileSync(file).equals(readFileSync(second[i] ?? '')), file);
  const text = first.map((file) => readFileSync(file, 'latin1')).join('');
  t.notOk(text.includes(folder), 'no path of the build is in them');
  t.ok(text.includes('llama.cpp/ggml/src'), 'assertions name their file all the same');
});

/** What binding.gyp tells node-gyp, tried with the one that npm brings, on a tree whose build is a stand-in. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, realpathSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { checkout } from './setup/paths.mjs';
import { findProgram } from './setup/tools.mjs';

const run = promisify(execFile);
const npm = findProgram('npm');
const nodeGyp = npm ? join(realpathSync(npm), '..', '..', 'node_modules', 'node-gyp', 'bin', 'node-gyp.js') : '';
const missing = ['make', 'python3'].find((program) => findProgram(program) === undefined);
const skip = missing ? `${missing} is not installed` : existsSync(nodeGyp) ? false : 'npm brings no node-gyp';

t.test('node-gyp builds once, and again when a source has changed', { skip, timeout: 100_000 }, async (t) => {
  const folder = t.testdir({
    'binding.gyp': readFileSync(join(checkout, 'binding.gyp'), 'utf8'),
    'CMakeLists.txt': '',
    'CMakePresets.json': '{}',
    'package.json': '{}',
    native: { 'addon.cpp': '' },
    scripts: {
      'build.mjs': `import { appendFileSync, writeFileSync } from 'node:fs';
        appendFileSync('runs', 'x');
        writeFileSync(process.argv[process.argv.indexOf('--done') + 1], '');`,
    },
    // In place of Node's own, which node-gyp would fetch.
    headers: { include: { node: { 'common.gypi': '{}', 'config.gypi': "{ 'variables': {} }" } } },
  });
  const gyp = async (command: string) => {
    await run(process.execPath, [nodeGyp, command, `--nodedir=${join(folder, 'headers')}`], { cwd: folder });
    return readFileSync(join(folder, 'runs'), 'utf8');
  };
  t.equal(await gyp('rebuild'), 'x');
  t.equal(await gyp('build'), 'x', 'its output is there');
  const later = Date.now() / 1000 + 5;
  utimesSync(join(folder, 'native', 'addon.cpp'), later, later);
  t.equal(await gyp('build'), 'xx');
});

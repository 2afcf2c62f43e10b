import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { makeFolder } from './make-folder.ts';

const program = `import { makeFolder } from ${JSON.stringify(join(import.meta.dirname, 'make-folder.ts'))};
await makeFolder(process.argv[1]).then(() => console.log('made'), ({ code }) => console.log(code));`;
const readOnly = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'];
const canRun = spawnSync('bwrap', [...readOnly, 'true']).status === 0;

t.test('a folder is made with those above it', async (t) => {
  const folder = join(t.testdir(), 'a', 'b');
  await makeFolder(folder);
  await makeFolder(folder);
  t.ok(existsSync(folder));
});

t.test('a file system that is read-only is told as one', { skip: canRun ? false : 'bubblewrap cannot run here' }, async (t) => {
  const folder = t.testdir();
  const args = ['--no-warnings', '--input-type=module', '-e', program, join(folder, 'a', 'b')];
  const { stdout, stderr } = spawnSync('bwrap', [...readOnly, process.execPath, ...args], { encoding: 'utf8' });
  t.equal(stdout.trim(), 'EROFS', stderr);
});

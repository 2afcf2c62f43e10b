/** The bundle runs what the sources run, and two builds of the same sources are the same bytes. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { INSTALL_ROOT } from '../../ts/server/platform/files/install-root.ts';
import { writeBundle } from './bundle.ts';
import { codeCacheProfiles, writeCodeCaches } from './code-caches.ts';
import { PackageFinder } from './package-finder.ts';
import { runtimePackages } from './runtime-packages.ts';
import { workerFiles } from './worker-urls.ts';

const run = promisify(execFile);
const folder = t.testdir();
await writeBundle(INSTALL_ROOT, join(folder, 'dist'));
copyFileSync(join(INSTALL_ROOT, 'package.json'), join(folder, 'package.json'));
symlinkSync(join(INSTALL_ROOT, 'node_modules'), join(folder, 'node_modules'));
await writeCodeCaches(join(folder, 'dist'));

t.test('every program that the server starts is a file of its own', async (t) => {
  const files = readdirSync(join(folder, 'dist'));
  const programs = workerFiles(INSTALL_ROOT).map((file) => file.replace(/^.*\/|\.ts$/g, ''));
  t.ok(programs.length >= 5, `${programs.length} programs`);
  for (const program of programs) t.ok(files.includes(`${program}.js`) || files.includes(`${program}.cjs`), program);
});

t.test('the bundled command does what the sources do', async (t) => {
  const bundled = (...args: string[]) => run(process.execPath, [join(folder, 'dist/svc.cjs'), ...args]);
  const source = (...args: string[]) => run(process.execPath, [join(INSTALL_ROOT, 'ts/cli/svc.ts'), ...args]);
  for (const args of [['version'], ['help'], ['help', 'serve'], ['config', '--example']])
    t.equal((await bundled(...args)).stdout, (await source(...args)).stdout, args.join(' '));
});

t.test('the code caches are taken by the Node that made them, and a damaged one is only slower', async (t) => {
  // Each in a process of its own, as it is at a start: a second script of one source is found in V8's own cache.
  for (const profile of codeCacheProfiles) {
    const look = `process.stdout.write(String(require('./load-program.cjs').compileProgram('${profile}').cachedDataRejected))`;
    t.equal((await run(process.execPath, ['-e', look], { cwd: join(folder, 'dist') })).stdout, 'false', profile);
  }
  const cache = join(folder, 'dist/program.command.cache');
  const whole = readFileSync(cache);
  for (const [how, bytes] of [
    ['of another version', Buffer.concat([Buffer.alloc(16, 7), whole.subarray(16)])],
    ['cut off', whole.subarray(0, whole.length / 2)],
    ['empty', Buffer.alloc(0)],
  ] as const) {
    writeFileSync(cache, bytes);
    t.match((await run(process.execPath, [join(folder, 'dist/svc.cjs'), 'version'])).stdout, /^svc \d/, how);
  }
  writeFileSync(cache, whole);
});

t.test('a folder that holds something else than a bundle is not emptied', async (t) => {
  const other = t.testdir({ 'a file': 'of somebody' });
  await t.rejects(writeBundle(INSTALL_ROOT, other), /holds no bundle/);
  t.strictSame(readdirSync(other), ['a file']);
});

t.test('the same sources give the same bytes', async (t) => {
  const first = join(folder, 'first');
  renameSync(join(folder, 'dist'), first);
  await writeBundle(INSTALL_ROOT, join(folder, 'dist'));
  await writeCodeCaches(join(folder, 'dist'));
  const files = readdirSync(first).sort();
  t.strictSame(readdirSync(join(folder, 'dist')).sort(), files);
  for (const file of files) t.ok(readFileSync(join(folder, 'dist', file)).equals(readFileSync(join(first, file))), file);
});

t.test('the packages beside the bundle are those of the target', async (t) => {
  const finder = new PackageFinder(INSTALL_ROOT, { platform: 'linux', arch: 'x64' });
  const names = (await runtimePackages(finder)).map(({ name }) => name);
  t.ok(names.includes('better-sqlite3'));
  t.ok(names.includes('pdfjs-dist'));
  t.ok(names.includes('@img/sharp-libvips-linux-x64'));
  t.notOk(names.some((name) => /arm64|darwin|win32|musl|canvas/.test(name)));
  t.ok(names.length < 60);
});

t.test('the bundled program that encodes logos finds its package', async (t) => {
  const child = execFile(process.execPath, [join(folder, 'dist/encode-logo.js')], { encoding: 'buffer' });
  const chunks: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
  // One pixel.
  const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  child.stdin?.end(Buffer.from(pixel, 'base64'));
  const [code] = (await once(child, 'close')) as [number];
  t.equal(code, 0);
  t.equal(Buffer.concat(chunks).subarray(1, 4).toString('latin1'), 'PNG');
});

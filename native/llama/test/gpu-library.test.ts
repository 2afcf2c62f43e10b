/** Which devices compute when a library for GPUs lies beside the addon: with a stand-in for CUDA's, linked to one for the driver's. */
import { execFile } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import type { SystemInfo } from '../../../ts/server/native/llama-shapes.ts';
import { nativeFolder } from '../../../ts/server/native/load.ts';
import { buildTarget, noReferences } from './reference.ts';

const run = promisify(execFile);
const skip = process.platform === 'linux' ? noReferences() : 'the stand-in is built for Linux';
const load = new URL('../../../ts/server/native/load.ts', import.meta.url).href;
const script = `const { loadAddon } = await import(${JSON.stringify(load)}); console.log(JSON.stringify(loadAddon('llama').systemInfo()));`;

/** A folder with the addon, its libraries and the stand-in; and what the machine's loader needs to find the driver. */
async function lay(t: Test) {
  const build = dirname(nativeFolder());
  await buildTarget(build, 'stand-in-gpu');
  const references = join(build, 'references');
  const folder = t.testdir();
  for (const file of readdirSync(nativeFolder())) symlinkSync(join(nativeFolder(), file), join(folder, file));
  const library = join(folder, 'libggml-cuda.so');
  copyFileSync(join(references, 'gpu/libggml-cuda.so'), library);
  return { folder, library, withDriver: { LD_LIBRARY_PATH: join(references, 'driver') } };
}

async function start(folder: string, env: NodeJS.ProcessEnv = {}): Promise<SystemInfo> {
  const { stdout } = await run(process.execPath, ['--no-warnings', '--input-type=module', '-e', script], {
    env: { ...process.env, ...env, SVC_NATIVE_DIR: folder },
  });
  return JSON.parse(stdout) as SystemInfo;
}

const kinds = ({ devices }: SystemInfo) => devices.map(({ kind }) => kind);

t.test('a GPU is the first device', { skip }, async (t) => {
  const { folder, withDriver } = await lay(t);
  const info = await start(folder, withDriver);
  t.strictSame(kinds(info), ['gpu', 'cpu']);
  t.strictSame(info.unusedBackends, []);
  t.strictSame(kinds(await start(folder, { ...withDriver, SVC_CPU_VARIANT: 'haswell' })), ['gpu', 'cpu'], 'with a named variant');
});

t.test('without the driver the CPU computes, and the reason is the loader’s', { skip }, async (t) => {
  const { folder, library } = await lay(t);
  // This machine may have the driver, and none has one of this name.
  const linked = readFileSync(library, 'latin1');
  writeFileSync(library, linked.replaceAll('libcuda.so.1', 'libnone.so.1'), 'latin1');
  const info = await start(folder);
  t.strictSame(kinds(info), ['cpu']);
  t.match(info.unusedBackends, [{ file: 'libggml-cuda.so', reason: /^libnone\.so\.1: cannot open shared object file/ }]);
});

t.test('with a driver that finds no GPU the CPU computes', { skip }, async (t) => {
  const { folder, withDriver } = await lay(t);
  const info = await start(folder, { ...withDriver, SVC_STAND_IN_GPUS: '0' });
  t.strictSame(kinds(info), ['cpu']);
  t.match(info.unusedBackends, [{ file: 'libggml-cuda.so', reason: 'it finds no device that it can compute on' }]);
});

t.test('a damaged library keeps nobody from starting', { skip }, async (t) => {
  const { folder, library, withDriver } = await lay(t);
  writeFileSync(library, 'no library');
  const info = await start(folder, withDriver);
  t.strictSame(kinds(info), ['cpu']);
  t.match(info.unusedBackends, [{ file: 'libggml-cuda.so', reason: /^(file too short|invalid ELF header)/ }]);
});

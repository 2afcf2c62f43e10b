import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { AddonLoadError, candidateFolders, loadAddon, nativeFolder } from './load.ts';
import { NativeError } from './native-error.ts';

/** Each thread loads once, so every case has a thread of its own. */
function loadInThread(env: NodeJS.ProcessEnv): Promise<{ name: string; code: string; message: string }> {
  const url = new URL('./load.ts', import.meta.url).href;
  const program = `
    import { parentPort } from 'node:worker_threads';
    const { loadAddon } = await import(${JSON.stringify(url)});
    try { loadAddon('llama'); parentPort.postMessage({ name: 'none' }); }
    catch ({ name, code, message }) { parentPort.postMessage({ name, code, message }); }`;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(program)}`), { env });
  return new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
}

t.test('the addon loads once, and its folder has the libraries it shares', async (t) => {
  t.equal(loadAddon('llama'), loadAddon('llama'));
  t.ok(candidateFolders('llama').includes(nativeFolder()));
});

t.test('a native failure is a NativeError with its code', async (t) => {
  const addon = loadAddon('llama') as { startLoad(options: object, onProgress: () => void): { model: Promise<unknown> } };
  await t.rejects(addon.startLoad({ path: '/nowhere.gguf' }, () => {}).model, NativeError);
});

t.test('a missing library is listed with its file, the reason and the remedy', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-native-'));
  const error = await loadInThread({ ...process.env, SVC_NATIVE_DIR: folder });
  t.match(error, { name: 'AddonLoadError', code: 'addon_not_loadable' });
  t.match(error.message, `${join(folder, 'svc_llama.node')}: there is no such file`);
  t.match(error.message, 'node scripts/build.mjs');
});

t.test('a damaged library says so instead of failing to be found', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-native-'));
  writeFileSync(join(folder, 'svc_llama.node'), 'not a library');
  const { message } = await loadInThread({ ...process.env, SVC_NATIVE_DIR: folder });
  t.match(message, /svc_llama\.node: .*(file too short|invalid ELF|mach-o)/);
  t.match(message, 'damaged or for another CPU');
});

t.test('a CPU below the floor is told before any library is touched', async (t) => {
  const env = { ...process.env, SVC_FORCE_CPU_FEATURES: 'none', SVC_NATIVE_DIR: '/nowhere' };
  t.match(await loadInThread(env), {
    name: 'CpuUnsupportedError',
    code: process.arch === 'x64' ? 'cpu_lacks_avx2' : 'cpu_lacks_arm_extensions',
  });
});

t.test('a system library that is absent is named in the remedy', async (t) => {
  const reason = 'libgomp.so.1: cannot open shared object file: No such file or directory';
  t.match(
    new AddonLoadError('llama', [{ file: '/x/svc_llama.node', reason }]).message,
    'Install the system package that has libgomp.so.1',
  );
});

t.test('SVC_NATIVE_DIR is the only place when it is set', async (t) => {
  t.same(candidateFolders('llama', { SVC_NATIVE_DIR: '/opt/svc' }), ['/opt/svc']);
});

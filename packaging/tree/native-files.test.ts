import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type NativeBuild, nativeFiles } from './native-files.ts';

const needed = [
  'libggml-cpu-zen4.so',
  'libllama.so.0',
  'libsvc-scheduling.so',
  'svc_confine',
  'svc_flite',
  'svc_llama.node',
  'svc_vector.node',
];
const left = ['libggml-cpu-icelake.so', 'libllama.so.0.bak', 'svc_old.node'];
const list = 'set(SVC_ENGINE_LINKED "/e/libllama.so")\nset(SVC_ENGINE_RUNTIME "/e/libllama.so.0;/e/libggml-cpu-zen4.so")\n';

/** A checkout with a build that an earlier one has left files in. */
function build(t: Test): NativeBuild {
  const source = t.testdir({
    native: { llama: { bindings: { 'addon.cpp': '' } }, vector: { 'addon.cpp': '' }, common: { 'clock.h': '' } },
    engine: { 'engine.cmake': list },
    build: { cpu: { lib: Object.fromEntries([...needed, ...left].map((name) => [name, ''])) } },
  });
  writeFileSync(
    join(source, 'build/cpu/CMakeCache.txt'),
    `A:BOOL=ON\nSVC_ENGINE_DIR:PATH=${join(source, 'engine')}\nB:BOOL=ON\n`,
  );
  return { source, folder: join(source, 'build/cpu/lib'), platform: 'linux' };
}

t.test('what an earlier build left behind does not ship', async (t) => t.strictSame(nativeFiles(build(t)), needed));

t.test('macOS has no launcher of confined processes', async (t) => {
  const options = build(t);
  writeFileSync(join(options.folder, 'libsvc-scheduling.dylib'), '');
  const names = needed.filter((name) => name !== 'svc_confine').map((name) => name.replace('scheduling.so', 'scheduling.dylib'));
  t.strictSame(nativeFiles({ ...options, platform: 'darwin' }), names);
});

t.test('a build that was made in one run has the list itself', async (t) => {
  const options = build(t);
  writeFileSync(join(options.folder, '../CMakeCache.txt'), 'SVC_ENGINE_DIR:PATH=\n');
  writeFileSync(join(options.folder, '../engine.cmake'), list);
  t.strictSame(nativeFiles(options), needed);
});

t.test('what is missing is named, with the command that builds it', async (t) => {
  const options = build(t);
  rmSync(join(options.folder, 'svc_vector.node'));
  t.throws(() => nativeFiles(options), /lacks svc_vector.node: node scripts\/build.mjs --preset cpu/);
  rmSync(join(options.source, 'engine'), { recursive: true });
  t.throws(() => nativeFiles(options), /no list of upstream's libraries: node scripts\/build.mjs --preset cpu/);
});

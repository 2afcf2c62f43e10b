import t from 'tap';
import { describeEngine } from './engine.mjs';
import { getPreset } from './presets.mjs';

t.test('a preset has what it inherits', async (t) => {
  t.match(getPreset('bench').cacheVariables, { CMAKE_BUILD_TYPE: 'Release', SVC_RIVALS: 'ON' });
});

t.test('an unknown preset names those that exist', async (t) => {
  t.throws(() => getPreset('gpu'), { name: 'SetUpError', message: /cpu, release, arm64, cuda, macos, asan, tsan, bench/ });
});

t.test('the sanitised addons use the same upstream libraries as the plain ones', async (t) => {
  for (const preset of ['asan', 'tsan']) t.equal(describeEngine(preset).folder, describeEngine('cpu').folder, preset);
});

t.test('what changes the upstream libraries has a folder of its own', async (t) => {
  const folders = ['cpu', 'release', 'arm64', 'cuda', 'bench'].map((preset) => describeEngine(preset).folder);
  t.equal(new Set(folders).size, folders.length);
});

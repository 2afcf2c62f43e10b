import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { chooseVariants, readCpuFeatures, shippedVariants } from './cpu-variants.mjs';
import { readPins, sourceFolder } from './sources.mjs';

const avx2 = ['avx2', 'fma', 'f16c', 'bmi2'];
const avx512 = [...avx2, 'avx512f', 'avx512cd', 'avx512vl', 'avx512dq', 'avx512bw'];
const zen4 = [...avx512, 'avx512vbmi', 'avx512_bf16', 'avx512_vnni'];

for (const [machine, features, variants] of [
  ['Haswell', avx2, ['haswell']],
  ['Alder Lake', [...avx2, 'avx_vnni'], ['haswell', 'alderlake']],
  ['Skylake-X', avx512, ['haswell', 'skylakex']],
  ['Zen 5, which has AVX-VNNI as well', [...zen4, 'avx_vnni'], ['haswell', 'zen4']],
  ['Sapphire Rapids', [...zen4, 'amx_tile', 'amx_int8'], ['haswell', 'sapphirerapids']],
] as const) {
  t.test(`${machine} gets ${variants.join(' and ')}`, async (t) => {
    t.same(chooseVariants('x64', new Set<string>(features)), variants);
  });
}

t.test('an ARM machine with dotprod and half floats gets the floor and its own', async (t) => {
  t.same(chooseVariants('arm64', new Set(['asimddp', 'asimdhp'])), ['armv8.2_1', 'armv8.2_2']);
});

t.test('where features cannot be read, all variants are built', async (t) => {
  t.same(chooseVariants('x64', new Set()), ['all']);
});

const { 'llama.cpp': pin } = readPins();
const upstream = pin ? join(sourceFolder(pin), 'ggml', 'src', 'CMakeLists.txt') : '';
const skip = existsSync(upstream) ? false : 'llama.cpp is not fetched';
t.test('every name is a variant of the pinned llama.cpp', { skip }, async (t) => {
  const known = [...readFileSync(upstream, 'utf8').matchAll(/ggml_add_cpu_backend_variant\(([\w.]+)/g)].map(([, name]) => name);
  const chosen = chooseVariants(process.arch, readCpuFeatures()).filter((name) => name !== 'all');
  t.same(
    chosen.filter((name) => !known.includes(name)),
    [],
  );
});

const meant = {
  x64: ['haswell', 'alderlake', 'skylakex', 'cannonlake', 'cascadelake', 'icelake', 'cooperlake', 'zen4', 'sapphirerapids'],
  arm64: ['armv8.2_1', 'armv8.2_2', 'armv8.2_3', 'armv8.6_1', 'armv8.6_2', 'armv9.2_1', 'armv9.2_2'],
};

t.test('the variants that are meant to ship are those of this list', async (t) => {
  for (const [arch, variants] of Object.entries(meant)) t.strictSame(shippedVariants(arch), variants);
});

t.test('a release builds every variant of the pinned source from the lowest one on, and no other', { skip }, async (t) => {
  const listed = readFileSync(upstream, 'utf8');
  const ours = readFileSync(join(import.meta.dirname, '../../native/llama-cpp/CMakeLists.txt'), 'utf8');
  const below = /set\(below_floor ([^)]+)\)/.exec(ours)?.[1]?.split(' ') ?? [];
  const parts = { x64: /STREQUAL "x86"\)([\s\S]*?)STREQUAL "ARM"/, arm64: /MATCHES "Linux"\)([\s\S]*?)MATCHES "Android"/ };
  for (const [arch, part] of Object.entries(parts)) {
    const text = part.exec(listed.slice(listed.indexOf('ggml_add_cpu_backend_variant(x64)') - 200))?.[1] ?? '';
    const known = [...text.matchAll(/ggml_add_cpu_backend_variant\(([\w.]+)/g)].map(([, name = '']) => name);
    t.strictSame(known.filter((name) => !below.includes(name)).sort(), shippedVariants(arch).sort(), arch);
  }
  const { configurePresets: presets } = JSON.parse(
    readFileSync(join(import.meta.dirname, '../../CMakePresets.json'), 'utf8'),
  ) as {
    configurePresets: { name: string; cacheVariables?: Record<string, string> }[];
  };
  for (const name of ['release', 'arm64'])
    t.equal(presets.find((preset) => preset.name === name)?.cacheVariables?.['SVC_CPU_VARIANTS'], 'all', name);
});

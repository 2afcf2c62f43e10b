import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { chooseVariants, readCpuFeatures } from './cpu-variants.mjs';
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
t.test(
  'every name is a variant of the pinned llama.cpp',
  { skip: existsSync(upstream) ? false : 'llama.cpp is not fetched' },
  async (t) => {
    const known = [...readFileSync(upstream, 'utf8').matchAll(/ggml_add_cpu_backend_variant\(([\w.]+)/g)].map(([, name]) => name);
    const chosen = chooseVariants(process.arch, readCpuFeatures()).filter((name) => name !== 'all');
    t.same(
      chosen.filter((name) => !known.includes(name)),
      [],
    );
  },
);

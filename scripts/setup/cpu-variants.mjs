import { readFileSync } from 'node:fs';

const avx512 = ['avx512f', 'avx512cd', 'avx512vl', 'avx512dq', 'avx512bw'];

/**
 * ggml's CPU backends and the kernel's names of what each needs beyond the lowest one that ships. Best first, by the scores in
 * llama.cpp's ggml/src/ggml-cpu/arch/x86/cpu-feats.cpp and arm/cpu-feats.cpp: ggml itself chooses by those when it loads.
 * @type {Record<string, { floor: string, lowest: string[], above: [variant: string, features: string[]][] }>}
 */
const architectures = {
  x64: {
    floor: 'haswell',
    lowest: ['avx2', 'fma', 'f16c', 'bmi2'],
    above: [
      ['sapphirerapids', [...avx512, 'avx512vbmi', 'avx512_bf16', 'avx512_vnni', 'amx_tile', 'amx_int8']],
      ['zen4', [...avx512, 'avx512vbmi', 'avx512_bf16', 'avx512_vnni']],
      ['cooperlake', [...avx512, 'avx512_bf16', 'avx512_vnni']],
      ['icelake', [...avx512, 'avx512vbmi', 'avx512_vnni']],
      ['cascadelake', [...avx512, 'avx512_vnni']],
      ['cannonlake', [...avx512, 'avx512vbmi']],
      ['skylakex', avx512],
      ['alderlake', ['avx_vnni']],
    ],
  },
  arm64: {
    floor: 'armv8.2_1',
    lowest: ['asimddp'],
    above: [
      ['armv9.2_2', ['asimdhp', 'sve', 'i8mm', 'sve2', 'sme']],
      ['armv9.2_1', ['asimdhp', 'sve', 'i8mm', 'sme']],
      ['armv8.6_2', ['asimdhp', 'sve', 'i8mm', 'sve2']],
      ['armv8.6_1', ['asimdhp', 'sve', 'i8mm']],
      ['armv8.2_3', ['asimdhp', 'sve']],
      ['armv8.2_2', ['asimdhp']],
    ],
  },
};

/**
 * The variants that a checkout builds: the lowest that ships and the best for this machine. 'all' where the features
 * cannot be read.
 * @param {string} arch as process.arch says it
 * @param {Set<string>} features
 * @returns {string[]}
 */
export function chooseVariants(arch, features) {
  const known = architectures[arch];
  if (!known || features.size === 0) return ['all'];
  const best = known.above.find(([, needed]) => needed.every((feature) => features.has(feature)));
  return best ? [known.floor, best[0]] : [known.floor];
}

/** Variants that GCC before 13 cannot compile: a build with it lacks them. */
export const newerCompilerVariants = ['armv9.2_1', 'armv9.2_2'];

/**
 * Those that ship for an architecture, the lowest first.
 * @param {string} arch as process.arch says it
 * @returns {string[]}
 */
export function shippedVariants(arch) {
  const known = architectures[arch];
  return known ? [known.floor, ...known.above.map(([variant]) => variant).reverse()] : [];
}

/** Those that the bench's machine matrix looks at, where they run: one of each generation. */
export const matrixVariants = ['haswell', 'skylakex', 'icelake', 'zen4', 'armv8.2_1', 'armv8.6_1'];

/**
 * All variants that a CPU with these features can run, the lowest that ships first.
 * @param {string} arch as process.arch says it
 * @param {Set<string>} features
 * @returns {string[]}
 */
export function runnableVariants(arch, features) {
  const known = architectures[arch];
  if (!known || features.size === 0) return [];
  const above = known.above.filter(([, needed]) => needed.every((feature) => features.has(feature)));
  return [known.floor, ...above.map(([variant]) => variant).reverse()];
}

/**
 * The features that a variant needs and a CPU lacks. All of them for a variant that is not known.
 * @param {string} arch as process.arch says it
 * @param {string} variant
 * @param {Set<string>} features
 * @returns {string[]}
 */
export function missingFeatures(arch, variant, features) {
  const known = architectures[arch];
  const above = known?.above.find(([name]) => name === variant)?.[1];
  if (!known || (!above && variant !== known.floor)) return [`whatever ${variant} needs`];
  return [...known.lowest, ...(above ?? [])].filter((feature) => !features.has(feature));
}

/** CPU features in the kernel's words; empty on systems that do not list them. */
export function readCpuFeatures() {
  if (process.platform !== 'linux') return new Set(/** @type {string[]} */ ([]));
  const line = /^(?:flags|Features)\s*:(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'));
  return new Set((line?.[1] ?? '').trim().split(/\s+/));
}

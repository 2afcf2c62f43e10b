/**
 * The kernels of every CPU variant that is built, run once and compared with sums in double precision: on this CPU, or in an emulator of one
 * that has what the variant needs. The variant is the only one of its folder, so it is what the loader chooses.
 */
import { execFile } from 'node:child_process';
import { existsSync, globSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { emulator as armEmulator, sysroot } from '../../../scripts/setup/arm64.mjs';
import { missingFeatures, readCpuFeatures } from '../../../scripts/setup/cpu-variants.mjs';
import { buildFolder } from '../../../scripts/setup/paths.mjs';
import { findProgram } from '../../../scripts/setup/tools.mjs';
import { nativeFolder } from '../../../ts/server/native/load.ts';
import { buildTarget, noReferences } from './reference.ts';

const run = promisify(execFile);

interface Emulator {
  program: string;
  /** -cpu for a variant: each is tried. */
  cpus: (variant: string) => readonly string[];
  options: readonly string[];
  /** What QEMU 7.2 emulates of what variants need. */
  features: Set<string>;
}

/**
 * Vectors of SVE have as many bytes as the CPU says. Those of 64 are on machines without i8mm alone, and no kernel is made for both: the lowest
 * variant with SVE is the only one that may meet them.
 */
const sveBytes = (variant: string) => (variant === 'armv8.2_3' ? [16, 32, 64] : [16, 32]);
const hasSve = (variant: string) => !['armv8.2_1', 'armv8.2_2'].includes(variant);

const emulators: Record<string, Emulator | undefined> = {
  x64: {
    program: findProgram('qemu-x86_64-static') ?? '',
    cpus: () => ['max'],
    options: [],
    features: new Set(['avx2', 'fma', 'f16c', 'bmi2']),
  },
  arm64: {
    program: armEmulator ?? '',
    cpus: (variant) => (hasSve(variant) ? sveBytes(variant).map((bytes) => `max,sve-default-vector-length=${bytes}`) : ['max']),
    options: ['-L', sysroot],
    features: new Set(['asimddp', 'asimdhp', 'sve', 'i8mm', 'sve2', 'sme']),
  },
};

/** Types of weights, each in its plain order at least, for a token and for a prompt. */
const FEWEST_PRODUCTS = 60;

function test(build: string, arch: string): void {
  const own = arch === process.arch ? readCpuFeatures() : new Set<string>();
  const libraries = globSync('libggml-cpu-*.so', { cwd: join(build, 'lib') }).sort();
  t.test(`${basename(build)} has variants`, async (t) => t.ok(libraries.length > 0));
  for (const library of libraries) {
    const variant = library.replace(/^libggml-cpu-|\.so$/g, '');
    const { commands, skip } = runner(arch, variant, own);
    for (const command of commands) {
      t.test([arch, variant, ...command.slice(1, 3)].join(' '), { skip }, async (t) => {
        const folder = t.testdir();
        const others = globSync('lib*', { cwd: join(build, 'lib'), exclude: ['libggml-cpu-*'] });
        for (const file of [library, ...others]) symlinkSync(join(build, 'lib', file), join(folder, file));
        const [program = '', ...args] = [...command, join(build, 'references/kernels'), folder];
        const { stdout } = await run(program, args);
        const [features = '', compared] = stdout.split('|');
        t.comment(`${features.trim()}: ${compared?.trim()} products`);
        t.ok(Number(compared) >= FEWEST_PRODUCTS, stdout);
      });
    }
  }
}

function runner(
  arch: string,
  variant: string,
  own: Set<string>,
): { commands: readonly (readonly string[])[]; skip: string | false } {
  const missing = missingFeatures(arch, variant, own);
  if (missing.length === 0) return { commands: [[]], skip: false };
  const emulator = emulators[arch];
  const skipped = (why: string) => ({ commands: [[]], skip: why });
  if (!emulator?.program) return skipped(`this CPU lacks ${missing.join(', ')}, and no QEMU is installed`);
  const { program, cpus, options, features } = emulator;
  const beyond = missingFeatures(arch, variant, features);
  const nowhere = missing.filter((name) => beyond.includes(name));
  if (nowhere.length > 0) return skipped(`neither this CPU nor QEMU has ${nowhere.join(', ')}`);
  return { commands: cpus(variant).map((cpu) => [program, '-cpu', cpu, ...options]), skip: false };
}

const hasArm64 = process.env['SVC_TEST_ARM64'] === '1';
const builds = [
  { build: existsSync(join(buildFolder('release'), 'lib/svc_llama.node')) ? buildFolder('release') : undefined, arch: 'x64' },
  {
    build: hasArm64 && existsSync(join(buildFolder('arm64'), 'lib/svc_llama.node')) ? buildFolder('arm64') : undefined,
    arch: 'arm64',
  },
].filter(({ arch }) => arch !== process.arch || process.platform === 'linux');

const skip = process.platform === 'linux' ? noReferences() : 'variants are built for Linux';
if (skip !== false) t.test('CPU variants', { skip }, () => undefined);
else {
  const own = join(nativeFolder(), '..');
  const others = builds.filter(({ build }) => build !== undefined && build !== own) as { build: string; arch: string }[];
  for (const { build, arch } of [{ build: own, arch: process.arch as string }, ...others]) {
    await buildTarget(build, 'kernels');
    test(build, arch);
  }
}

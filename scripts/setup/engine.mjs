import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCmake } from './cmake.mjs';
import { chooseVariants, readCpuFeatures } from './cpu-variants.mjs';
import { cudaVariables, findCudaToolkit, gridDependency } from './cuda.mjs';
import { withLock } from './lock.mjs';
import { cacheFolder, checkout } from './paths.mjs';
import { getPreset } from './presets.mjs';
import { readPins, sourceFolder } from './sources.mjs';
import { findProgram } from './tools.mjs';

/** Variables that concern the addons alone: presets that differ only in these share one engine. */
const addonVariables = ['SVC_SANITIZE'];

/**
 * The upstream libraries that a preset needs (SVC_CPU_VARIANTS names other CPU variants than this machine's own, for the bench): how to configure them, and the folder in the cache that this content names.
 * @param {string} presetName
 */
export function describeEngine(presetName) {
  const preset = getPreset(presetName);
  const pin = readPins()['llama.cpp'];
  if (!pin) throw new Error('native/sources.json has no llama.cpp');
  const source = sourceFolder(pin);
  const isCuda = preset.cacheVariables?.GGML_CUDA === 'ON';
  const variables = {
    SVC_CPU_VARIANTS: process.env.SVC_CPU_VARIANTS || chooseVariants(process.arch, readCpuFeatures()).join(';'),
    ...preset.cacheVariables,
    ...(isCuda ? cudaVariables() : {}),
    SVC_LLAMA_CPP_DIR: source,
  };
  for (const name of addonVariables) delete (/** @type {Record<string, string>} */ (variables)[name]);
  const key = createHash('sha256')
    .update(
      JSON.stringify([
        variables,
        recipe(),
        compilers(preset.toolchainFile),
        ...(isCuda ? [findCudaToolkit()?.release, gridDependencyText()] : []),
      ]).replaceAll(checkout, ''),
    )
    .digest('hex')
    .slice(0, 16);
  return {
    preset: presetName,
    source,
    variables,
    folder: join(cacheFolder(), 'engines', key),
    isCuda,
    mayChange: Boolean(process.env[pin.override]),
  };
}

const gridDependencyText = () => readFileSync(gridDependency, 'utf8');

/** The files below native/llama-cpp, which decide how upstream is compiled. */
function recipe() {
  const folder = join(checkout, 'native', 'llama-cpp');
  return readdirSync(folder)
    .sort()
    .map((name) => [name, readFileSync(join(folder, name), 'utf8')]);
}

/**
 * Which compilers cmake will find, and their versions.
 * @param {string | undefined} toolchainFile
 */
function compilers(toolchainFile) {
  const { CC = 'cc', CXX = 'c++', CFLAGS = '', CXXFLAGS = '', LDFLAGS = '' } = process.env;
  const programs = toolchainFile ? ['aarch64-linux-gnu-gcc', 'aarch64-linux-gnu-g++'] : [CC, CXX];
  return [...programs.map(version), CFLAGS, CXXFLAGS, LDFLAGS, process.platform, process.arch];
}

/** @param {string} program */
function version(program) {
  try {
    return execFileSync(program, ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    // Absent here: configuring reports that in its own words.
    return program;
  }
}

/** @param {{ folder: string, mayChange: boolean }} engine */
export function isEngineBuilt({ folder, mayChange }) {
  return !mayChange && existsSync(join(folder, 'complete'));
}

/**
 * Builds the upstream libraries unless the cache has them. An interrupted build goes on where it stopped.
 * @param {ReturnType<typeof describeEngine>} engine
 * @param {(text: string) => void} onProgress
 */
export async function buildEngine(engine, onProgress) {
  if (isEngineBuilt(engine)) return;
  const { preset, folder, variables } = engine;
  const work = async () => {
    if (isEngineBuilt(engine)) return;
    await forgetOtherCheckout(folder);
    const definitions = Object.entries({ ...variables, SVC_ENGINE_ONLY: 'ON' }).map(([name, value]) => `-D${name}=${value}`);
    const generator = findProgram('ninja') || findProgram('ninja-build') ? 'Ninja' : 'Unix Makefiles';
    await runCmake('cmake', ['--preset', preset, '-B', folder, '-G', generator, ...definitions]);
    await runCmake('cmake', ['--build', folder, '--target', 'svc_engine_build'], onProgress);
    await writeFile(join(folder, 'complete'), `${new Date().toISOString()}\n`);
  };
  await withLock(`${folder}.lock`, work, () => onProgress('waiting for another build'));
}

/**
 * cmake refuses a build folder that was configured from another path; the objects in it are still good.
 * @param {string} folder
 */
async function forgetOtherCheckout(folder) {
  const cache = join(folder, 'CMakeCache.txt');
  const text = await readFile(cache, 'utf8').catch(() => '');
  if (text && !text.includes(`CMAKE_HOME_DIRECTORY:INTERNAL=${checkout}\n`)) await rm(cache);
}

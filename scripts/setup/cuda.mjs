import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { checkout } from './paths.mjs';
import { SetUpError } from './set-up-error.mjs';
import { findProgram } from './tools.mjs';

/**
 * A CUDA toolkit with which ggml's backend can be compiled and linked.
 * @typedef {{ nvcc: string, release: string, libraries: string, hostCompiler: string | undefined }} CudaToolkit
 */

/** Machine code for these, and PTX of the first, which the drivers of newer GPUs compile. */
const defaultArchitectures = '80;90-real';

/** Toolkits before 12 lack what this declares. */
export const gridDependency = join(checkout, 'native/cuda/grid_dependency.h');

const install =
  "install 'nvidia-cuda-toolkit' and 'g++-11' (Debian 12, whose sources need the components contrib and non-free: " +
  "apt-get install --no-install-recommends nvidia-cuda-toolkit g++-11) or 'cuda-toolkit' of NVIDIA's repository (Fedora: dnf install " +
  'cuda-toolkit), or name the compiler in CUDACXX';

/**
 * Returns what CMake needs to know of the toolkit; nothing where there is none.
 * @param {NodeJS.ProcessEnv} env
 * @returns {Record<string, string>}
 */
export function cudaVariables(env = process.env) {
  const toolkit = findCudaToolkit(env);
  if (toolkit === undefined) return {};
  return {
    CMAKE_CUDA_COMPILER: toolkit.nvcc,
    CMAKE_CUDA_ARCHITECTURES: architecturesOf(env),
    ...(isOlderThan12(toolkit) ? { CMAKE_CUDA_FLAGS: `-include ${gridDependency}` } : {}),
    ...(toolkit.hostCompiler === undefined ? {} : { CMAKE_CUDA_HOST_COMPILER: toolkit.hostCompiler }),
  };
}

/**
 * Throws SetUpError with what is missing and the command that installs it.
 * @param {NodeJS.ProcessEnv} env
 * @returns {CudaToolkit}
 */
export function requireCudaToolkit(env = process.env) {
  architecturesOf(env);
  const toolkit = findCudaToolkit(env);
  if (toolkit !== undefined) return toolkit;
  const [partial] = compilers(env);
  const what =
    partial === undefined ? 'The CUDA toolkit is missing' : `${partial} has no cuBLAS beside it, which llama.cpp links`;
  throw new SetUpError(`${what}: ${install}`);
}

/**
 * The first toolkit that is whole: some programs bring a compiler of their own that has no libraries.
 * @param {NodeJS.ProcessEnv} env
 * @returns {CudaToolkit | undefined}
 */
export function findCudaToolkit(env = process.env) {
  for (const nvcc of compilers(env)) {
    const libraries = librariesOf(nvcc);
    const release = libraries === undefined ? undefined : releaseOf(nvcc);
    if (libraries !== undefined && release !== undefined) {
      return { nvcc, release, libraries, hostCompiler: hostCompilerOf(release, env) };
    }
  }
  return undefined;
}

/** @param {NodeJS.ProcessEnv} env */
function architecturesOf(env) {
  const { SVC_CUDA_ARCHITECTURES: asked = '' } = env;
  const architectures = asked || defaultArchitectures;
  if (/^\d{2,3}[af]?(-real|-virtual)?(;\d{2,3}[af]?(-real|-virtual)?)*$/.test(architectures)) return architectures;
  throw new SetUpError(
    `SVC_CUDA_ARCHITECTURES is '${architectures}': name compute capabilities without their point, separated by ';', for example '80;90-real'`,
  );
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @returns {string[]}
 */
function compilers({ CUDACXX, PATH = '' }) {
  if (CUDACXX) return [CUDACXX].filter((path) => existsSync(path));
  const folders = [...PATH.split(delimiter), '/usr/local/cuda/bin', '/usr/bin'];
  return [...new Set(folders)].map((folder) => join(folder, 'nvcc')).filter((path) => existsSync(path));
}

/**
 * The folder with the libraries that programs link, of NVIDIA's packages or of a distribution's.
 * @param {string} nvcc
 */
function librariesOf(nvcc) {
  const roots = [...new Set([nvcc, realpathSync(nvcc)])].map((path) => dirname(dirname(path)));
  const folders = roots.flatMap((root) =>
    ['lib64', 'targets/x86_64-linux/lib', 'lib/x86_64-linux-gnu'].map((folder) => join(root, folder)),
  );
  return folders.find((folder) => ['libcublas.so', 'libcudart.so'].every((name) => existsSync(join(folder, name))));
}

/** @param {string} nvcc */
function releaseOf(nvcc) {
  try {
    const said = execFileSync(nvcc, ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return /release (\d+\.\d+)/.exec(said)?.[1];
  } catch {
    return undefined;
  }
}

/**
 * CUDA 11 knows GCC up to 11. Undefined: nvcc finds one itself.
 * @param {string} release
 * @param {NodeJS.ProcessEnv} env
 */
function hostCompilerOf(release, env) {
  if (env.CUDAHOSTCXX) return env.CUDAHOSTCXX;
  return isOlderThan12({ release }) ? findProgram('g++-11', env) : undefined;
}

/** @param {Pick<CudaToolkit, 'release'>} toolkit */
function isOlderThan12({ release }) {
  return Number(release.split('.')[0]) < 12;
}

/**
 * The licenses of a toolkit's libraries, as paths: where NVIDIA's packages have them, and a distribution's.
 * @param {CudaToolkit} toolkit
 */
export function cudaLicenses({ nvcc, libraries }) {
  const ofToolkit = [dirname(dirname(realpathSync(nvcc))), dirname(libraries)].flatMap((folder) =>
    matching(folder, /^(EULA|LICENSE).*\.txt$/),
  );
  if (ofToolkit.length > 0) return ofToolkit;
  const packages = matching('/usr/share/doc', /^lib(cublas|cublaslt|cudart)\d/);
  return packages.map((folder) => join(folder, 'copyright')).filter((path) => existsSync(path));
}

/**
 * @param {string} folder
 * @param {RegExp} pattern
 */
function matching(folder, pattern) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => pattern.test(name))
    .map((name) => join(folder, name));
}

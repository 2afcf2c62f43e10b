/** Whether this machine's CPU can run the native libraries that ship: x86_64 from AVX2 up, ARM64 from dotprod up. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export type CpuUnsupportedCode = 'cpu_lacks_avx2' | 'cpu_lacks_arm_extensions';

/** Local models cannot run on this CPU; everything else can. */
export class CpuUnsupportedError extends Error {
  override readonly name = 'CpuUnsupportedError';
  readonly code: CpuUnsupportedCode;
  /** What is missing, in the kernel's words. */
  readonly missing: string[];

  constructor(code: CpuUnsupportedCode, missing: string[]) {
    super(
      `This CPU lacks ${missing.join(', ')}, so local models cannot run here. Use a machine whose CPU has ` +
        `${code === 'cpu_lacks_avx2' ? 'AVX2 (Intel since 2013, AMD since 2015)' : 'the ARMv8.2 dot product instructions'}, ` +
        'or a node or cloud provider that runs the models.',
    );
    this.code = code;
    this.missing = missing;
  }
}

/** What ggml's lowest shipped CPU backend is compiled with (haswell; armv8.2_1). */
const required: Partial<Record<NodeJS.Architecture, { code: CpuUnsupportedCode; features: string[] }>> = {
  x64: { code: 'cpu_lacks_avx2', features: ['avx2', 'fma', 'f16c', 'bmi2'] },
  arm64: { code: 'cpu_lacks_arm_extensions', features: ['asimddp'] },
};

/**
 * Throws CpuUnsupportedError when the CPU lacks what the libraries need; unknown architectures and systems that do not tell pass.
 * SVC_FORCE_CPU_FEATURES replaces what the machine says: a comma-separated list, or `none`.
 */
export function requireCpuFeatures(env: NodeJS.ProcessEnv = process.env, arch: NodeJS.Architecture = process.arch): void {
  const need = required[arch];
  if (!need) return;
  const present = env.SVC_FORCE_CPU_FEATURES ? new Set(env.SVC_FORCE_CPU_FEATURES.split(',')) : readFeatures();
  if (!present) return;
  const missing = need.features.filter((feature) => !present.has(feature));
  if (missing.length > 0) throw new CpuUnsupportedError(need.code, missing);
}

function readFeatures(): Set<string> | undefined {
  try {
    return process.platform === 'darwin' ? readDarwinFeatures() : readLinuxFeatures();
  } catch {
    // No such file or program: the loader itself will tell.
    return undefined;
  }
}

function readLinuxFeatures(): Set<string> | undefined {
  const line = /^(?:flags|Features)\s*:(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'));
  return line?.[1] ? new Set(line[1].trim().split(/\s+/)) : undefined;
}

/** Every Apple silicon has the dot product instructions, so only Intel Macs are asked. */
function readDarwinFeatures(): Set<string> | undefined {
  if (process.arch === 'arm64') return undefined;
  const printed = execFileSync('/usr/sbin/sysctl', ['-n', 'machdep.cpu.features', 'machdep.cpu.leaf7_features'], {
    encoding: 'utf8',
  });
  return new Set(printed.toLowerCase().trim().split(/\s+/));
}

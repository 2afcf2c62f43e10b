/** Runs ts/workers/inspect-model.ts on one file, limited in time, memory and environment. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { EngineOptions, LoadOptions } from '../../../native/llama.ts';
import { type InspectionResult, parseInspectionResult } from './inspection-result.ts';

/** How the model would be loaded, for the question of how much memory it would take. */
export interface InspectionPlan {
  engine: EngineOptions;
  load: Omit<LoadOptions, 'path'>;
}

export interface InspectionLimits {
  timeoutMs: number;
  /** Private memory, MiB: a tokenizer of 262,000 tokens needs less than 1,024. */
  memoryMiB: number;
  cpuSeconds: number;
}

export const inspectionLimits: InspectionLimits = { timeoutMs: 60_000, memoryMiB: 4096, cpuSeconds: 60 };

const entry = fileURLToPath(new URL('../../../../workers/inspect-model.ts', import.meta.url));
const maxOutputBytes = 64 * 1024;

/** Limits the data segment and not the address space, of which V8 reserves much more than it uses. A shell without one goes on. */
function limitScript({ memoryMiB, cpuSeconds }: InspectionLimits): string {
  const limits = [`-d ${memoryMiB * 1024}`, '-c 0', `-t ${cpuSeconds}`, '-f 0'];
  return `${limits.map((limit) => `ulimit ${limit} 2>/dev/null`).join('; ')}; exec "$@"`;
}

/** Only what the addon's loader reads; nothing secret can leak into a file's parser. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = ['SVC_NATIVE_DIR', 'SVC_FORCE_CPU_FEATURES', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH'];
  return Object.fromEntries(kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
}

export function runInspection(
  path: string,
  plan?: InspectionPlan,
  limits: InspectionLimits = inspectionLimits,
  script = entry,
): Promise<InspectionResult> {
  const program = [
    process.execPath,
    '--no-warnings',
    '--expose-gc',
    script,
    path,
    ...(plan === undefined ? [] : [JSON.stringify(plan)]),
  ];
  const child = spawn('/bin/sh', ['-c', limitScript(limits), 'sh', ...program], {
    env: cleanEnvironment(),
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: limits.timeoutMs,
    killSignal: 'SIGKILL',
  });
  return new Promise((resolve, reject) => {
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (output.length < maxOutputBytes) output += text;
    });
    child.on('error', reject);
    child.on('close', (code, signal) =>
      resolve(parseInspectionResult(output) ?? { usable: false, reason: deathSentence(code, signal), isDeath: true }),
    );
  });
}

function deathSentence(code: number | null, signal: NodeJS.Signals | null): string {
  return `The process that inspected the file ended with ${signal ?? `exit status ${code}`} before it reached a result.`;
}

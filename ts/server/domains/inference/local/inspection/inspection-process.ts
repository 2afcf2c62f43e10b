/** Runs ts/workers/inspect-model.ts on one file, confined (see native/confinement.ts) and limited in time, memory and environment. */
import { spawn } from 'node:child_process';
import { basename, dirname, join, relative, sep } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { confinedCommand } from '../../../../native/confinement.ts';
import type { EngineOptions, LoadOptions } from '../../../../native/llama-shapes.ts';
import { INSTALL_ROOT } from '../../../../platform/files/install-root.ts';
import { type InspectionResult, parseInspectionResult } from './inspection-result.ts';

/** How the model would be loaded, for the question of how much memory it would take. */
export interface InspectionPlan {
  engine: EngineOptions;
  load: Omit<LoadOptions, 'path'>;
  /** Memory of devices for as many layers as fit; absent: how many, `load` says. */
  deviceBytes?: number;
}

export interface InspectionLimits {
  timeoutMs: number;
  /** Private memory, MiB: a tokenizer of 262,000 tokens needs less than 1,024. */
  memoryMiB: number;
  cpuSeconds: number;
}

const inspectionLimits: InspectionLimits = { timeoutMs: 60_000, memoryMiB: 4096, cpuSeconds: 60 };

const entry = fileURLToPath(new URL('../../../../../workers/inspect-model.ts', import.meta.url));
const maxOutputChars = 64 * 1024;
const maxComplaintChars = 1000;
/** Each is an argument of the launcher. Models of more parts are unknown. */
const maxParts = 1000;

/** The paths that the child reads of this program: the folder that its script imports from, and the file that tells Node how to. */
const sources = [join(INSTALL_ROOT, relative(INSTALL_ROOT, entry).split(sep)[0] ?? ''), join(INSTALL_ROOT, 'package.json')];

/** The files that the child may open: all parts of the model, by their names, and what is loaded beside it. */
function modelFiles(path: string, plan: InspectionPlan | undefined): string[] {
  const { projectorPath, loras = [] } = plan?.load ?? {};
  return [...partsOf(path), ...(projectorPath === undefined ? [] : [projectorPath]), ...loras.map((lora) => lora.path)];
}

/** llama.cpp finds the parts of a split model by name alone. */
function partsOf(path: string): string[] {
  const [, prefix, , count] = /^(.*)-(\d{5})-of-(\d{5})\.gguf$/.exec(basename(path)) ?? [];
  if (prefix === undefined || Number(count) > maxParts) return [path];
  const name = (index: number) => `${prefix}-${String(index + 1).padStart(5, '0')}-of-${count}.gguf`;
  return Array.from({ length: Number(count) }, (_, index) => join(dirname(path), name(index)));
}

/** Only what the addon's loader reads; nothing secret can leak into a file's parser. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = ['SVC_NATIVE_DIR', 'SVC_CPU_VARIANT', 'SVC_FORCE_CPU_FEATURES', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH'];
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
  const { file, args } = confinedCommand(program, { ...limits, readable: [...sources, script, ...modelFiles(path, plan)] });
  const child = spawn(file, args, {
    env: cleanEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: limits.timeoutMs,
    killSignal: 'SIGKILL',
  });
  return new Promise((resolve, reject) => {
    const output = collect(child.stdout, maxOutputChars);
    const complaint = collect(child.stderr, maxComplaintChars);
    child.on('error', reject);
    child.on('close', (code, signal) => {
      const reason = deathSentence(signal ?? `exit status ${code}`, complaint());
      resolve(parseInspectionResult(output()) ?? { usable: false, reason, isDeath: true });
    });
  });
}

/** Reads to the end, so that the child never waits, and keeps about as much as the limit. */
function collect(stream: Readable, maxChars: number): () => string {
  let held = '';
  stream.setEncoding('utf8').on('data', (text: string) => {
    if (held.length < maxChars) held += text;
  });
  return () => held;
}

function deathSentence(end: string, complaint: string): string {
  const launcher = /^svc_confine: (.*)$/m.exec(complaint)?.[1];
  const cause = launcher === undefined ? '' : ` (its launcher says: ${launcher})`;
  return `The process that inspected the file ended with ${end} before it reached a result${cause}.`;
}

/** Runs test files, some at a time, and tells how far it is. */
import { join } from 'node:path';
import type { Cost } from './budgets.ts';
import type { ImportGraph } from './import-graph.ts';
import type { ReachWatch } from './reach-watch.ts';
import { readFiles, readTap, type TapOutcome } from './tap-output.ts';
import { databaseVariable, pathOf } from './test-files.ts';
import { runTestProcess } from './test-process.ts';
import { Worker } from './worker.ts';

const propertiesFile = join(import.meta.dirname, 'properties.ts');
const togetherProgram = join(import.meta.dirname, 'together.ts');

interface RunTotals {
  passed: number;
  failed: number;
  skipped: number;
}

export interface RunReport extends RunTotals {
  failedFiles: string[];
  costs: Map<string, Cost>;
}

export interface RunOptions {
  /** The environment of a file, beside what its worker shares. */
  envOf: (file: string) => NodeJS.ProcessEnv;
  timeoutSeconds: number;
  nAtOnce: number;
  graph: ImportGraph;
  reach?: ReachWatch | undefined;
  show: (line: string) => void;
}

/** In the order given, a process for each unit; what failed is shown at the end. */
export async function runUnits(units: readonly (readonly string[])[], options: RunOptions): Promise<RunReport> {
  const report: RunReport = { passed: 0, failed: 0, skipped: 0, failedFiles: [], costs: new Map() };
  const failures: string[] = [];
  const waiting = [...units];
  const work = async () => {
    const worker = new Worker(options.graph);
    try {
      for (let unit = waiting.shift(); unit !== undefined; unit = waiting.shift()) {
        const ended =
          unit.length === 1 ? await runAlone(unit[0] ?? '', worker, options) : await runTogether(unit, worker, options);
        for (const one of ended) failures.push(...add(one, report, options.show));
        // The process died before them.
        waiting.unshift(...unit.slice(ended.length).map((file) => [file]));
      }
    } finally {
      await worker.close();
    }
  };
  await Promise.all(Array.from({ length: options.nAtOnce }, work));
  for (const failure of failures) options.show(failure);
  return report;
}

interface EndedFile {
  file: string;
  outcome: TapOutcome;
  cost: Cost;
  /** Whether it costs more than it does in other runs. */
  isWatched?: boolean;
}

async function runAlone(file: string, worker: Worker, options: RunOptions): Promise<EndedFile[]> {
  const { timeoutSeconds, envOf, reach } = options;
  const watched = reach?.variablesFor(file) ?? {};
  const env = { ...envOf(file), ...databaseVariable(file), ...(await worker.variablesFor([file])), ...watched };
  const args = [...preloadOf([file], options.graph), pathOf(file)];
  const { output, exitCode, ...cost } = await runTestProcess(args, { env, timeoutSeconds });
  const outcome = readTap(output, exitCode);
  // Timers decide on a busy machine what a program reaches beside its work, and a whole run needs no map: no reason to fail.
  const lie = outcome.failed === 0 ? await reach?.judge(file) : undefined;
  if (lie !== undefined) options.show(`${file}: ${lie}`);
  return [{ file, outcome, cost, isWatched: Object.keys(watched).length > 0 }];
}

/** Those that the process has ended, in their order; what it says behind the last is the last one's. */
async function runTogether(files: readonly string[], worker: Worker, options: RunOptions): Promise<EndedFile[]> {
  const [first = ''] = files;
  const env = { ...options.envOf(first), ...databaseVariable(first), ...(await worker.variablesFor(files)) };
  const args = [...preloadOf(files, options.graph), togetherProgram, ...files];
  const { output, exitCode } = await runTestProcess(args, { env, timeoutSeconds: options.timeoutSeconds });
  const found = readFiles(output);
  const ended = files.flatMap((file) => {
    const one = found.get(file);
    return one ? [{ file, ...one }] : [];
  });
  if (exitCode === 0 || ended.some(({ outcome }) => outcome.failed > 0)) return ended;
  const file = files[Math.min(ended.length, files.length - 1)] ?? '';
  const behind = output.slice(output.lastIndexOf('\n# end of '));
  // Its totals are those of the process: the others have told theirs.
  const outcome = { ...readTap(behind, exitCode), passed: 0, skipped: 0 };
  const last = { file, outcome, cost: { wallSeconds: 0, cpuSeconds: 0 } };
  return [...ended.filter((one) => one.file !== file), last];
}

/** Tells what failed. */
function add({ file, outcome, cost, isWatched = false }: EndedFile, report: RunReport, show: RunOptions['show']): string[] {
  if (!isWatched && outcome.failed === 0) report.costs.set(file, cost);
  for (const name of ['passed', 'failed', 'skipped'] as const) report[name] += outcome[name];
  showEnd(file, cost, outcome, show);
  if (outcome.failed === 0) return [];
  report.failedFiles.push(file);
  return [`${file}:\n${outcome.failures}`];
}

/** Only what needs it loads it. */
function preloadOf(files: readonly string[], graph: ImportGraph): string[] {
  return files.some((file) => hasProperties(file, graph)) ? ['--import', propertiesFile] : [];
}

function hasProperties(file: string, graph: ImportGraph): boolean {
  return [...graph.closure(file)].some((path) => path.endsWith('.ts') && graph.source(path).includes("from 'fast-check'"));
}

function showEnd(file: string, { wallSeconds, cpuSeconds }: Cost, { skips, failed }: TapOutcome, show: RunOptions['show']): void {
  for (const skip of skips) show(`skipped  ${skip}`);
  show(`${failed > 0 ? 'FAILED  ' : 'ok      '} ${file} (${wallSeconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} of CPU)`);
}

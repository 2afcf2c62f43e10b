/** Runs test files, some at a time, and tells how far it is. */
import { join } from 'node:path';
import type { Cost } from './budgets.ts';
import type { ImportGraph } from './import-graph.ts';
import type { ReachWatch } from './reach-watch.ts';
import { readTap, type TapOutcome } from './tap-output.ts';
import { runTestProcess } from './test-process.ts';
import { Worker } from './worker.ts';

const propertiesFile = join(import.meta.dirname, 'properties.ts');

export interface RunTotals {
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

/** In the order given; what failed is shown at the end. */
export async function runFiles(files: readonly string[], options: RunOptions): Promise<RunReport> {
  const report: RunReport = { passed: 0, failed: 0, skipped: 0, failedFiles: [], costs: new Map() };
  const failures: string[] = [];
  const waiting = [...files];
  const work = async () => {
    const worker = new Worker(options.graph);
    try {
      for (let file = waiting.shift(); file !== undefined; file = waiting.shift())
        failures.push(...(await runFile(file, worker, report, options)));
    } finally {
      await worker.close();
    }
  };
  await Promise.all(Array.from({ length: options.nAtOnce }, work));
  for (const failure of failures) options.show(failure);
  return report;
}

/** Adds to the report, and tells what failed. */
async function runFile(file: string, worker: Worker, report: RunReport, options: RunOptions): Promise<string[]> {
  const watched = options.reach?.variablesFor(file) ?? {};
  const env = { ...options.envOf(file), ...(await worker.variablesFor([file])), ...watched };
  const { output, exitCode, ...cost } = await runTestProcess([...preloadOf(file, options.graph), file], {
    env,
    timeoutSeconds: options.timeoutSeconds,
  });
  const outcome = readTap(output, exitCode);
  const lie = outcome.failed === 0 ? await options.reach?.judge(file) : undefined;
  if (lie !== undefined) {
    outcome.failed += 1;
    outcome.failures += lie;
  }
  if (Object.keys(watched).length === 0) report.costs.set(file, cost);
  for (const name of ['passed', 'failed', 'skipped'] as const) report[name] += outcome[name];
  showEnd(file, cost, outcome, options.show);
  if (outcome.failed === 0) return [];
  report.failedFiles.push(file);
  return [`${file} (${exitCode === null ? 'killed' : `exit code ${exitCode}`}):\n${outcome.failures}`];
}

/** Only what needs it loads it. */
function preloadOf(file: string, graph: ImportGraph): string[] {
  const hasProperties = [...graph.closure(file)].some(
    (path) => path.endsWith('.ts') && graph.source(path).includes("from 'fast-check'"),
  );
  return hasProperties ? ['--import', propertiesFile] : [];
}

function showEnd(file: string, { wallSeconds, cpuSeconds }: Cost, { skips, failed }: TapOutcome, show: RunOptions['show']): void {
  for (const skip of skips) show(`skipped  ${skip}`);
  show(`${failed > 0 ? 'FAILED  ' : 'ok      '} ${file} (${wallSeconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} of CPU)`);
}

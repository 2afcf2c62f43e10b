/** Runs test files, some at a time, and tells how far it is. */
import type { Cost } from './budgets.ts';
import { readTap, type TapOutcome } from './tap-output.ts';
import { type ProcessOptions, runTestProcess } from './test-process.ts';

export interface RunTotals {
  passed: number;
  failed: number;
  skipped: number;
}

export interface RunReport extends RunTotals {
  failedFiles: string[];
  costs: Map<string, Cost>;
}

export interface RunOptions extends ProcessOptions {
  nAtOnce: number;
  show: (line: string) => void;
}

/** In the order given; what failed is shown at the end. */
export async function runFiles(files: readonly string[], options: RunOptions): Promise<RunReport> {
  const report: RunReport = { passed: 0, failed: 0, skipped: 0, failedFiles: [], costs: new Map() };
  const failures: string[] = [];
  const waiting = [...files];
  const work = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const { output, exitCode, ...cost } = await runTestProcess([file], options);
      const outcome = readTap(output, exitCode);
      report.costs.set(file, cost);
      showEnd(file, cost, outcome, options.show);
      for (const name of ['passed', 'failed', 'skipped'] as const) report[name] += outcome[name];
      if (outcome.failed === 0) continue;
      report.failedFiles.push(file);
      failures.push(`${file} (${exitCode === null ? 'killed' : `exit code ${exitCode}`}):\n${outcome.failures}`);
    }
  };
  await Promise.all(Array.from({ length: options.nAtOnce }, work));
  for (const failure of failures) options.show(failure);
  return report;
}

function showEnd(file: string, { wallSeconds, cpuSeconds }: Cost, { skips, failed }: TapOutcome, show: RunOptions['show']): void {
  for (const skip of skips) show(`skipped  ${skip}`);
  show(`${failed > 0 ? 'FAILED  ' : 'ok      '} ${file} (${wallSeconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} of CPU)`);
}

/** Which modules of svc ran, from what V8's coverage wrote into a folder. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { moduleOf } from './module-map.ts';

interface FunctionCoverage {
  functionName: string;
  ranges: { startOffset: number; count: number }[];
}

interface ScriptCoverage {
  url: string;
  functions: FunctionCoverage[];
}

/** Each function that ran, as `file:offset`. */
export function functionsRun(folder: string, root: string): Set<string> {
  const found = new Set<string>();
  for (const name of readdirSync(folder)) {
    for (const script of scriptsOf(readFileSync(join(folder, name), 'utf8')))
      for (const one of runOf(script, root)) found.add(one);
  }
  return found;
}

/** None of a process that was killed while it wrote: tests kill servers at any moment. */
function scriptsOf(report: string): ScriptCoverage[] {
  try {
    return (JSON.parse(report) as { result: ScriptCoverage[] }).result;
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

function runOf({ url, functions }: ScriptCoverage, root: string): string[] {
  if (!url.startsWith('file:')) return [];
  const path = relative(root, fileURLToPath(url));
  if (moduleOf(path) === undefined) return [];
  // The nameless one at the start is the file itself, which runs where it is imported.
  return functions
    .filter(({ ranges: [whole], functionName }) => whole && whole.count > 0 && (functionName !== '' || whole.startOffset > 0))
    .map(({ ranges }) => `${path}:${ranges[0]?.startOffset}`);
}

/** How many functions of each module ran beside those that every start runs. */
export function modulesRun(ran: ReadonlySet<string>, everyStart: ReadonlySet<string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const one of ran) {
    const module = everyStart.has(one) ? undefined : moduleOf(one.slice(0, one.lastIndexOf(':')));
    if (module !== undefined) counts.set(module, (counts.get(module) ?? 0) + 1);
  }
  return counts;
}

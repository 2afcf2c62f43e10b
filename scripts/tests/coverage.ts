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

/** A function that ran, as `file:offset`. */
export function functionsRun(folder: string, root: string): Set<string> {
  const reports = readdirSync(folder).map(
    (name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as { result: ScriptCoverage[] },
  );
  return new Set(reports.flatMap(({ result }) => result.flatMap((script) => runOf(script, root))));
}

function runOf({ url, functions }: ScriptCoverage, root: string): string[] {
  if (!url.startsWith('file:')) return [];
  const path = relative(root, fileURLToPath(url));
  if (moduleOf(path) === undefined) return [];
  // The nameless one at the start is the file itself, which runs where it is imported.
  return functions
    .filter(
      ({ ranges: [whole], functionName }) =>
        whole !== undefined && whole.count > 0 && (functionName !== '' || whole.startOffset > 0),
    )
    .map(({ ranges }) => `${path}:${ranges[0]?.startOffset}`);
}

/** Modules with a function that ran and that is not in `besides`, which every start runs. */
export function modulesRun(ran: ReadonlySet<string>, besides: ReadonlySet<string>): Set<string> {
  const own = [...ran].filter((one) => !besides.has(one)).map((one) => moduleOf(one.slice(0, one.lastIndexOf(':'))));
  return new Set(own.filter((module) => module !== undefined));
}

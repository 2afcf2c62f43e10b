/** Checks "One request, file by file" of ARCHITECTURE.md: each file exists, and is reached by imports from the one named before it. */
import { pathsIn, resolvePath } from './document-paths.ts';
import { reachableFrom } from './imports.ts';

const heading = '## One request, file by file';
const compositionRoot = 'ts/server/main.ts';

/** Programs of their own, which a process starts by their path: no import leads there. */
const workers = 'ts/workers/';

interface TraceReport {
  nFiles: number;
  problems: string[];
}

/**
 * @param document ARCHITECTURE.md
 * @param files all source files, relative to the root
 * @param imports what each TypeScript file imports, types left out
 */
export function checkTrace(
  document: string,
  files: readonly string[],
  imports: ReadonlyMap<string, readonly string[]>,
): TraceReport {
  const fromMain = reachableFrom(compositionRoot, imports);
  const problems: string[] = [];
  let nFiles = 0;
  let before: string | undefined;
  for (const { path, line } of tracedPaths(document)) {
    const [file, ...others] = resolvePath(path, files, before);
    const at = `ARCHITECTURE.md:${line}: ${path}`;
    if (file === undefined) problems.push(`${at} does not exist`);
    else if (others.length > 0) problems.push(`${at} can mean ${[file, ...others].join(', ')}: write the path from the root`);
    else {
      nFiles++;
      const isReached = before === undefined || fromMain.has(file) || reachableFrom(before, imports).has(file);
      if (file.endsWith('.ts') && !file.startsWith(workers) && !isReached)
        problems.push(`${at} is imported neither by ${before} nor by ${compositionRoot}, directly or through others`);
      if (file.endsWith('.ts') || before === undefined || path.includes('/')) before = file;
    }
  }
  return { nFiles, problems };
}

function tracedPaths(document: string) {
  const lines = document.split('\n');
  const from = lines.indexOf(heading);
  if (from < 0) throw new Error(`ARCHITECTURE.md has no section "${heading}": write one, or change its name in this check`);
  const length = lines.slice(from + 1).findIndex((line) => line.startsWith('## '));
  const to = length < 0 ? lines.length : from + 1 + length;
  return pathsIn(document).filter(({ line }) => line > from && line <= to);
}

/** Numbers of the source that may only shrink: what makes one larger fails, and what makes it smaller lowers it here. */
import { statSync } from 'node:fs';
import { headlessComments } from './comments.ts';
import type { ImportReport } from './imports.ts';
import { checkUnusedExports, readSources, type Sources } from './unused-exports.ts';

const MOST = {
  /** Pairs of folders of one module whose files import each other. */
  'folder cycles': 0,
  'unused exports': 0,
  'unused types': 104,
  /** Doc comments that begin in the middle of a sentence. */
  'headless comments': 1500,
  /** `...{ a, b }` in an object literal: its members can stand there themselves. */
  'literal spreads': 0,
};
/** One line for each leaf, and what occurs often written once. */
const MAX_OPENAPI_BYTES = 1_400_000;

/** Files and lines of each module without its tests. A module that comes gets a line. */
const MODULES: Readonly<Record<string, readonly [nFiles: number, nLines: number]>> = {
  cli: [118, 9800],
  client: [7, 790],
  server: [12, 850],
  'server/domains/backup': [40, 3820],
  'server/domains/cloud': [51, 6450],
  'server/domains/cluster': [59, 7532],
  'server/domains/completions': [130, 14240],
  'server/domains/conversations': [56, 5069],
  'server/domains/data': [92, 9867],
  'server/domains/edge': [54, 6889],
  'server/domains/files': [34, 3202],
  'server/domains/identity': [113, 10533],
  'server/domains/inference': [102, 10340],
  'server/domains/iot': [29, 3951],
  'server/domains/comm': [30, 3695],
  'server/domains/license': [14, 610],
  'server/domains/logs': [62, 9137],
  'server/domains/media': [51, 5891],
  'server/domains/memory': [55, 8942],
  'server/domains/metering': [29, 2579],
  'server/domains/pages': [3, 173],
  'server/domains/retrieval': [43, 4015],
  'server/domains/science': [25, 2668],
  'server/domains/scim': [25, 1800],
  'server/domains/security': [14, 590],
  'server/domains/swarm': [22, 3236],
  'server/domains/syslog': [10, 1330],
  'server/domains/system': [12, 870],
  'server/domains/webhooks': [19, 1350],
  'server/extraction': [54, 3941],
  'server/native': [19, 2901],
  'server/platform': [274, 20937],
  web: [356, 22600],
  workers: [25, 1611],
};

/** A number that is this much below its budget is to be lowered. */
const SLACK = 0.1;

interface BudgetReport {
  nSources: number;
  problems: string[];
}

/** @param root absolute path of the repository. @param imports as the check of imports read them. */
export function checkBudgets(root: string, imports: ImportReport['imports']): BudgetReport {
  const sources = readSources(root);
  const { unused, unusedTypes } = checkUnusedExports(sources);
  const found: Record<keyof typeof MOST, string[]> = {
    'folder cycles': folderCycles(imports),
    'unused exports': unused,
    'unused types': unusedTypes,
    'headless comments': headlessComments(sources),
    'literal spreads': literalSpreads(sources),
  };
  const sizes = moduleSizes(sources);
  const openapiBytes = statSync(`${root}/openapi.json`).size;
  return {
    nSources: sources.size,
    problems: [
      ...Object.entries(found).flatMap(([name, places]) => overdrawn(name, places, MOST[name as keyof typeof MOST])),
      ...[...sizes].flatMap(([name, size]) => sizeFaults(name, size, MODULES[name])),
      ...(openapiBytes > MAX_OPENAPI_BYTES ? [`openapi.json has ${openapiBytes} bytes, at most ${MAX_OPENAPI_BYTES}`] : []),
    ],
  };
}

function overdrawn(name: string, places: readonly string[], most: number): string[] {
  if (places.length <= most) return tooWide(name, places.length, most);
  return [`${places.length} ${name}, at most ${most}:`, ...places];
}

/** Undefined: the module is new. */
function sizeFaults(name: string, [nFiles, nLines]: readonly [number, number], most?: readonly [number, number]): string[] {
  if (most === undefined) return [`the module ${name} has no budget: ${nFiles} files and ${nLines} lines`];
  const [maxFiles, maxLines] = most;
  if (nFiles <= maxFiles && nLines <= maxLines) return [];
  return [`the module ${name} has ${nFiles} files and ${nLines} lines, at most ${maxFiles} and ${maxLines}`];
}

function tooWide(name: string, actual: number, most: number): string[] {
  return actual < most * (1 - SLACK) - 1 ? [`${actual} ${name}: lower its budget, which is ${most}`] : [];
}

/** Two folders that import each other are one, however they are cut; types do not count. */
export function folderCycles(imports: ImportReport['imports']): string[] {
  const edges = new Set(
    [...imports].flatMap(([from, targets]) => targets.map((to) => edgeBetween(from, to)).filter((edge) => edge !== undefined)),
  );
  return [...edges].filter((edge) => edge.split(' ')[0] === edge.split(' ').toSorted()[0] && edges.has(reversed(edge)));
}

const reversed = (edge: string) => edge.split(' ').reverse().join(' ');
const FOLDER = /^ts\/server\/domains\/(\w+)\/(?:.*\/)?(?=[^/]*$)/;

/** Undefined: within one folder, between modules, or with the files that lie in the module itself. */
function edgeBetween(from: string, to: string): string | undefined {
  const [ofFrom, ofTo] = [FOLDER.exec(from), FOLDER.exec(to)];
  if (ofFrom === null || ofTo === null || ofFrom[1] !== ofTo[1] || ofFrom[0] === ofTo[0]) return undefined;
  if (/\.(test|contract)\.ts( |$)|\/test-support\//.test(`${from} ${to}`)) return undefined;
  const folders = [ofFrom[0], ofTo[0]].map((path) => path.slice('ts/server/domains/'.length, -1));
  return folders.includes(ofFrom[1] ?? '') ? undefined : folders.join(' ');
}

export function literalSpreads(sources: Sources): string[] {
  return [...sources].flatMap(([path, text]) => {
    const lines = text.split('\n').map((line, i) => ({ line, at: `${path}:${i + 1}` }));
    return lines.filter(({ line }) => /^(?!\s*(\*|\/\/|')).*[{,\s]\.\.\.\{(?!\})/.test(line)).map(({ at }) => at);
  });
}

/** Modules, and the parts of the program that are none. */
export function moduleSizes(sources: Sources): Map<string, [nFiles: number, nLines: number]> {
  const sizes = new Map<string, [number, number]>();
  for (const [path, text] of sources) {
    const [, name] = /^ts\/(server\/domains\/\w+|server\/\w+|\w+)\//.exec(path) ?? [];
    if (name === undefined || /\.(test|contract)\.tsx?$|\/test-support\//.test(path)) continue;
    const [nFiles, nLines] = sizes.get(name) ?? [0, 0];
    sizes.set(name, [nFiles + 1, nLines + text.split('\n').length - 1]);
  }
  return sizes;
}

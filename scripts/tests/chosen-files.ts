/**
 * Which test files `npm test` runs: cheap ones always, dear ones that what changed can reach, and of the others every fourth in turn, so that
 * four commits run them all.
 */
import type { Budgets, Cost } from './budgets.ts';
import type { Change } from './change.ts';
import type { ImportGraph } from './import-graph.ts';
import type { ModuleMap } from './module-map.ts';

/** A browser or a database that files share is not in their CPU time: it shows in how long they take. */
const cheap = { cpuSeconds: 4, wallSeconds: 8 };
const nTurns = 4;
/** What every test depends on, so that a change of it runs them all. */
const foundations =
  /^(package(-lock)?\.json|\.npmrc|\.nvmrc|tsconfig\.json|CMake(Lists\.txt|Presets\.json)|binding\.gyp|native\/sources\.json|scripts\/(setup|tests)\/.*|scripts\/test\.mjs|packaging\/bundle\/.*|test\/(test-support\/)?(?!.*\.(test|contract)\.ts$)[^/]+\.ts|ts\/cli\/run-cli\.ts)$/;
/** Whole programs: what a test runs of them is told by the map, since they import everything. */
const programs = ['ts/cli/svc.ts', 'ts/cli/program.ts', 'ts/server/main.ts', 'ts/server/modules.ts', 'ts/server/run.ts'];
/** What each test with a browser imports. */
export const browserFile = 'test/pages/browser.ts';
const addonSources = /^native\/(?!.*\/test\/).*\.(cpp|h|c|cmake|txt|patch)$/;
const bindings = 'ts/server/native/';

interface Choice {
  files: string[];
  /** A sentence for whoever reads the run. */
  why: string;
}

interface Known {
  budgets: Budgets;
  graph: ImportGraph;
  modules: ModuleMap;
}

/** `change`: a sentence where nobody knows what changed. */
export function chooseFiles(files: readonly string[], change: Change | string, known: Known): Choice {
  if (typeof change === 'string') return { files: [...files], why: `every file: ${change}` };
  const foundation = [...change.paths].find((path) => foundations.test(path));
  if (foundation !== undefined) return { files: [...files], why: `every file: ${foundation} changed` };
  const dear = known.budgets.dearestFirst(files).filter((file) => isDear(known.budgets.costOf(file)));
  const reached = new Set(dear.filter((file) => isReached(file, change.paths, known)));
  const others = dear.filter((file) => !reached.has(file));
  const inTurn = new Set(others.filter((file) => dear.indexOf(file) % nTurns === change.nCommits % nTurns));
  const left = new Set(others.filter((file) => !inTurn.has(file)));
  const why = `${files.length - dear.length} cheap files, ${reached.size} dear ones that the change reaches, ${inTurn.size} of the others in turn; npm run test:all runs the ${left.size} that are left`;
  return { files: files.filter((file) => !left.has(file)), why };
}

function isDear(cost: Cost | undefined): boolean {
  return cost !== undefined && (cost.cpuSeconds > cheap.cpuSeconds || cost.wallSeconds > cheap.wallSeconds);
}

function isReached(file: string, changed: ReadonlySet<string>, { graph, modules }: Known): boolean {
  const needed = graph.closure(file, isProgram);
  if ([...changed].some((path) => needed.has(path))) return true;
  const hasAddon = [...needed].some((path) => path.startsWith(bindings) || isProgram(path));
  if (hasAddon && [...changed].some((path) => addonSources.test(path))) return true;
  return [...needed].some(isProgram) && modules.isReached(file, changed);
}

/** What of it runs is told by the map of modules, and not by its imports. */
export function runsProgram(file: string, graph: ImportGraph): boolean {
  return [...graph.closure(file, isProgram)].some(isProgram);
}

function isProgram(path: string): boolean {
  return programs.includes(path);
}

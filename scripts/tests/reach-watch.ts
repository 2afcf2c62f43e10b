/** Runs test files of whole programs from the sources under V8's coverage, to make the map of the modules that they reach, or to find where it lies. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runServer, SHARED_SERVER } from '../../test/server.ts';
import { browserFile, runsProgram } from './chosen-files.ts';
import { functionsRun, modulesRun } from './coverage.ts';
import type { ImportGraph } from './import-graph.ts';
import { ModuleMap } from './module-map.ts';

/** What ticks by itself in a long run is no reach: the map names a module from its first function on, and lies from so many on. */
const functionsOfALie = 4;

export class ReachWatch {
  readonly #root: string;
  readonly #graph: ImportGraph;
  readonly #isAsked: (file: string) => boolean;
  #folder: string | undefined;
  #everyStart: Promise<Set<string>> | undefined;
  readonly #isMapping: boolean;
  #map: ModuleMap;

  /** `watched`: true makes the map of every file that runs; else these are compared with it. */
  constructor(root: string, graph: ImportGraph, watched: true | ((file: string) => boolean)) {
    this.#root = root;
    this.#graph = graph;
    this.#isMapping = watched === true;
    this.#isAsked = watched === true ? () => true : watched;
    this.#map = ModuleMap.read(root);
  }

  isWatched(file: string): boolean {
    return this.#isAsked(file) && runsProgram(file, this.#graph);
  }

  /** For the process of the file. */
  variablesFor(file: string): NodeJS.ProcessEnv {
    if (!this.isWatched(file)) return {};
    return { NODE_V8_COVERAGE: this.#folderOf(file), SVC_TEST_PROGRAM: undefined, [SHARED_SERVER]: undefined };
  }

  /** Once the file has run: takes what it reached into the map, and tells where that was another. */
  async judge(file: string): Promise<string | undefined> {
    if (!this.isWatched(file)) return undefined;
    this.#everyStart ??= this.#runStart();
    const folder = this.#folderOf(file);
    mkdirSync(folder, { recursive: true });
    const counts = modulesRun(functionsRun(folder, this.#root), await this.#everyStart);
    rmSync(folder, { recursive: true });
    if (this.#graph.closure(file).has(browserFile)) counts.set('ts/web', functionsOfALie);
    const missing = this.#map.missing(file, counts.keys()).filter((module) => (counts.get(module) ?? 0) >= functionsOfALie);
    this.#map = this.#map.with(file, counts.keys());
    return missing.length === 0 || this.#isMapping
      ? undefined
      : `test/modules.json does not say that it reaches ${missing.join(', ')}: npm test -- --map ${file}`;
  }

  write(): void {
    this.#map.write(this.#root);
  }

  close(): void {
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
  }

  #folderOf(file: string): string {
    this.#folder ??= mkdtempSync(join(tmpdir(), 'svc-reach-'));
    return join(this.#folder, file.replaceAll('/', '+'));
  }

  async #runStart(): Promise<Set<string>> {
    const folder = this.#folderOf('start');
    const coverage = join(folder, 'coverage');
    const server = await runServer({ folder, env: { NODE_V8_COVERAGE: coverage } });
    await server.stop();
    return functionsRun(coverage, this.#root);
  }
}

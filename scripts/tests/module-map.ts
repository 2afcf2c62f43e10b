/** Which modules the test files that run whole programs reach, as V8's coverage saw it: test/modules.json. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const place = join('test', 'modules.json');
const modulePatterns = [
  /^ts\/server\/(?:domains|platform)\/[^/]+(?=\/)/,
  /^ts\/server\/(?:extraction|native)(?=\/)/,
  /^ts\/(?:cli|client|web|workers)(?=\/)/,
  /^ts\/server(?=\/[^/]+$)/,
];

/** The folder that changes as one; undefined for what no program runs. */
export function moduleOf(path: string): string | undefined {
  if (/\.(test|contract)\.ts$|\/test-support\//.test(path)) return undefined;
  return modulePatterns.map((pattern) => pattern.exec(path)?.[0]).find((found) => found !== undefined);
}

export class ModuleMap {
  readonly #modules: ReadonlyMap<string, readonly string[]>;

  constructor(modules: Iterable<readonly [file: string, modules: readonly string[]]>) {
    this.#modules = new Map(modules);
  }

  static read(root: string): ModuleMap {
    const path = join(root, place);
    if (!existsSync(path)) return new ModuleMap([]);
    return new ModuleMap(Object.entries(JSON.parse(readFileSync(path, 'utf8')) as Record<string, string[]>));
  }

  /** A file that is not in the map may run anything, and a module that no file reaches may be run by any: it is new. */
  isReached(file: string, changed: ReadonlySet<string>): boolean {
    const known = this.#modules.get(file);
    const changedModules = [...changed].map(moduleOf).filter((module) => module !== undefined);
    const isNew = (module: string) => ![...this.#modules.values()].some((modules) => modules.includes(module));
    return changedModules.some((module) => known === undefined || known.includes(module) || isNew(module));
  }

  /** The modules that a file ran and that the map does not name; none for a file that is not in it, which always runs. */
  missing(file: string, ran: Iterable<string>): string[] {
    const known = this.#modules.get(file);
    return known === undefined ? [] : [...ran].filter((module) => !known.includes(module)).sort();
  }

  with(file: string, ran: Iterable<string>): ModuleMap {
    return new ModuleMap([...this.#modules, [file, [...ran].sort()]]);
  }

  write(root: string): void {
    const lines = [...this.#modules]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([file, modules]) => `  ${JSON.stringify(file)}: ${JSON.stringify(modules)}`);
    writeFileSync(join(root, place), `{\n${lines.join(',\n')}\n}\n`);
  }
}

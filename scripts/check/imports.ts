/** Checks the import rules and that every TypeScript file was seen: a check that saw nothing must not be green. */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';
import { importRules, pureCode } from './import-rules.ts';

const folders = ['ts', 'models', 'scripts', 'bench', 'test'];

export interface ImportReport {
  nModules: number;
  violations: string[];
  /** What each file imports when it runs; types left out. */
  imports: ReadonlyMap<string, readonly string[]>;
}

/** @param root absolute path of a tree laid out like this repository. */
export async function checkImports(root: string): Promise<ImportReport> {
  const onDisk = globSync(
    folders.map((folder) => `${folder}/**/*.ts`),
    { cwd: root },
  ).sort();
  const present = folders.filter((folder) => onDisk.some((file) => file.startsWith(`${folder}/`)));
  const tsConfig = extractTSConfig(join(import.meta.dirname, '../../tsconfig.json'));
  const { output } = await cruise(
    present,
    {
      baseDir: root,
      ruleSet: { forbidden: importRules },
      validate: true,
      tsPreCompilationDeps: true,
      doNotFollow: { path: 'node_modules' },
      enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
    },
    {},
    { tsConfig },
  );
  const { modules, summary } = output as ICruiseResult;
  const seen = new Set(modules.map((module) => module.source));
  const imports = new Map(
    modules.map(({ source, dependencies }) => [
      source,
      dependencies.filter(({ dependencyTypes }) => !dependencyTypes.includes('type-only')).map(({ resolved }) => resolved),
    ]),
  );
  return {
    nModules: onDisk.filter((file) => seen.has(file)).length,
    violations: [
      ...onDisk.filter((file) => !seen.has(file)).map((file) => `unseen: ${file} was not read by dependency-cruiser`),
      ...summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`),
      ...impureImports(imports),
    ],
    imports,
  };
}

function impureImports(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const shared = [...imports.keys()].filter((file) => pureCode.from.test(file));
  return shared.flatMap((file) =>
    [...reachableFrom(file, imports)].filter((to) => pureCode.to.test(to)).map((to) => `${pureCode.name}: ${file} -> ${to}`),
  );
}

/** With the file itself. */
export function reachableFrom(start: string, imports: ReadonlyMap<string, readonly string[]>): Set<string> {
  const reached = new Set([start]);
  // A set yields what is added while it is walked.
  for (const file of reached) for (const next of imports.get(file) ?? []) reached.add(next);
  return reached;
}

/** Checks the import rules and that every TypeScript file was seen: a check that saw nothing must not be green. */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';
import { importRules } from './import-rules.ts';

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
  return {
    nModules: onDisk.filter((file) => seen.has(file)).length,
    violations: [
      ...onDisk.filter((file) => !seen.has(file)).map((file) => `unseen: ${file} was not read by dependency-cruiser`),
      ...summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`),
    ],
    imports: new Map(
      modules.map(({ source, dependencies }) => [
        source,
        dependencies.filter(({ dependencyTypes }) => !dependencyTypes.includes('type-only')).map(({ resolved }) => resolved),
      ]),
    ),
  };
}

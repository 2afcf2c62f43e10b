import { globSync, readFileSync } from 'node:fs';
import { compareBinding } from './binding.ts';
import type { Check, Outcome } from './check.ts';
import { runCommand, runNode } from './command.ts';
import { missingPaths, sourceFilesOf } from './document-paths.ts';
import { checkImports, type ImportReport } from './imports.ts';
import { checkNativeFormat } from './native-format.ts';
import { checkReadme } from './readme.ts';
import { checkScopeMakers } from './scope-makers.ts';
import { checkTerms } from './term-findings.ts';
import { checkTrace } from './traced-request.ts';

/** Fewer than these means that a check lost its way, not that the code shrank. Raise them as the code grows. */
const minModules = 500;
const minNames = 80_000;
const minTracedFiles = 10;

function judge(problems: readonly string[], note: string): Outcome {
  return problems.length === 0 ? { status: 'passed', note } : { status: 'failed', output: problems.join('\n') };
}

let importReport: Promise<ImportReport> | undefined;

/** Read once: two checks use it. */
function readImports(): Promise<ImportReport> {
  importReport ??= checkImports(process.cwd());
  return importReport;
}

async function importRules(): Promise<Outcome> {
  const { nModules, violations } = await readImports();
  const tooFew = nModules < minModules ? [`only ${nModules} modules were read, expected at least ${minModules}`] : [];
  return judge([...tooFew, ...violations, ...checkScopeMakers(process.cwd()).violations], `${nModules} modules`);
}

async function terms(): Promise<Outcome> {
  const { nNames, findings } = checkTerms(process.cwd());
  const tooFew = nNames < minNames ? [`only ${nNames} names were read, expected at least ${minNames}`] : [];
  return judge([...tooFew, ...findings], `${nNames} names`);
}

async function tracedRequest(): Promise<Outcome> {
  const files = sourceFilesOf(process.cwd());
  const missing = ['ARCHITECTURE.md', 'CONTRIBUTING.md'].flatMap((name) => missingPaths(name, readFileSync(name, 'utf8'), files));
  const { nFiles, problems } = checkTrace(readFileSync('ARCHITECTURE.md', 'utf8'), files, (await readImports()).imports);
  const tooFew = nFiles < minTracedFiles ? [`only ${nFiles} files are named, expected at least ${minTracedFiles}`] : [];
  return judge([...new Set([...tooFew, ...missing, ...problems])], `${nFiles} files`);
}

async function nativeBindings(): Promise<Outcome> {
  const sources = globSync('native/{common,llama}/*.{h,cpp}').map((path) => readFileSync(path, 'utf8'));
  const binding = ['ts/server/native/llama.ts', 'ts/server/native/load.ts'].map((path) => readFileSync(path, 'utf8'));
  return judge(compareBinding(binding.join('\n'), sources.join('\n')), 'llama');
}

export const checks: readonly Check[] = [
  {
    name: 'format and lint',
    remedy: 'npm run format',
    run: () => runCommand('node_modules/.bin/biome', ['ci', '--colors=off', '--error-on-warnings']),
  },
  {
    name: 'types',
    remedy: 'correct the lines named above',
    run: () => runNode('node_modules/typescript-native/bin/tsc', '-p', 'tsconfig.json'),
  },
  { name: 'import rules', remedy: 'see scripts/check/import-rules.ts and ARCHITECTURE.md', run: importRules },
  { name: 'terms', remedy: 'use the words of scripts/check/terms.ts', run: terms },
  { name: 'traced request', remedy: 'make ARCHITECTURE.md and CONTRIBUTING.md say what the code does', run: tracedRequest },
  { name: 'openapi.json', remedy: 'npm run openapi', run: () => runNode('ts/server/openapi-file.ts', '--check') },
  { name: 'README tables', remedy: 'npm run format', run: checkReadme },
  { name: 'native format', remedy: 'npm run format', run: checkNativeFormat },
  { name: 'native bindings', remedy: 'make native/*/ and ts/server/native/*.ts name the same methods', run: nativeBindings },
];

import { globSync, readFileSync } from 'node:fs';
import { staleOptionFiles } from '../options/option-files.ts';
import { programParts, staleReferencePages } from '../reference/reference-pages.ts';
import { compareBinding } from './binding.ts';
import { checkBudgets } from './budgets.ts';
import type { Check, Outcome } from './check.ts';
import { checkClientMembers } from './client-members.ts';
import { runCommand, runNode } from './command.ts';
import { missingPaths, sourceFilesOf } from './document-paths.ts';
import { checkDocuments } from './documents.ts';
import { checkImports, type ImportReport } from './imports.ts';
import { checkNativeFormat } from './native-format.ts';
import { checkNativeIncludes } from './native-includes.ts';
import { checkRegularExpressions } from './regular-expressions.ts';
import { checkScopeMakers } from './scope-makers.ts';
import { checkTerms } from './term-findings.ts';
import { checkTextDirection } from './text-direction.ts';
import { checkTrace } from './traced-request.ts';

/** What one opens to follow a request. */
const maxTracedFiles = 12;
/** Fewer than these means that a check lost its way, not that the code shrank. Raise them as the code grows. */
const minModules = 500;
const minSources = 2_000;
const minNames = 300_000;
const minTracedFiles = 10;
const minNativeIncludes = 150;
const minPageFiles = 200;
const minExpressions = 400;
const minPages = 60;
const minMembers = 180;

function judge(problems: readonly string[], note: string): Outcome {
  return problems.length === 0 ? { status: 'passed', note } : { status: 'failed', output: problems.join('\n') };
}

let importReport: Promise<ImportReport> | undefined;

/** Read once: three checks use it. */
function readImports(): Promise<ImportReport> {
  importReport ??= checkImports(process.cwd());
  return importReport;
}

async function importRules(): Promise<Outcome> {
  const { nModules, violations } = await readImports();
  const tooFew = nModules < minModules ? [`only ${nModules} modules were read, expected at least ${minModules}`] : [];
  return judge([...tooFew, ...violations, ...checkScopeMakers(process.cwd()).violations], `${nModules} modules`);
}

async function budgets(): Promise<Outcome> {
  const { nSources, problems } = checkBudgets(process.cwd(), (await readImports()).imports);
  const tooFew = nSources < minSources ? [`only ${nSources} files were read, expected at least ${minSources}`] : [];
  return judge([...tooFew, ...problems], `${nSources} files`);
}

async function terms(): Promise<Outcome> {
  const { nNames, findings } = checkTerms(process.cwd());
  const tooFew = nNames < minNames ? [`only ${nNames} names were read, expected at least ${minNames}`] : [];
  return judge([...tooFew, ...findings], `${nNames} names`);
}

async function tracedRequest(): Promise<Outcome> {
  const files = sourceFilesOf(process.cwd());
  const documents = ['ARCHITECTURE.md', 'CONTRIBUTING.md', ...globSync('{ts,native}/**/README.md')];
  const missing = documents.flatMap((name) => missingPaths(name, readFileSync(name, 'utf8'), files));
  const { nFiles, problems } = checkTrace(readFileSync('ARCHITECTURE.md', 'utf8'), files, (await readImports()).imports);
  const tooFew = nFiles < minTracedFiles ? [`only ${nFiles} files are named, expected at least ${minTracedFiles}`] : [];
  const tooMany = nFiles > maxTracedFiles ? [`${nFiles} files are named, which is more than ${maxTracedFiles}`] : [];
  return judge([...new Set([...tooFew, ...tooMany, ...missing, ...problems])], `${nFiles} files`);
}

async function documents(): Promise<Outcome> {
  const { nPages, problems } = checkDocuments(process.cwd());
  const tooFew = nPages < minPages ? [`only ${nPages} pages were read, expected at least ${minPages}`] : [];
  return judge([...tooFew, ...problems], `${nPages} pages`);
}

async function nativeIncludes(): Promise<Outcome> {
  const { nIncludes, problems } = checkNativeIncludes(process.cwd());
  const tooFew =
    nIncludes < minNativeIncludes ? [`only ${nIncludes} includes were read, expected at least ${minNativeIncludes}`] : [];
  return judge([...tooFew, ...problems], `${nIncludes} includes`);
}

async function clientMembers(): Promise<Outcome> {
  const { nMembers, problems } = checkClientMembers(process.cwd(), (await programParts()).routes);
  const tooFew = nMembers < minMembers ? [`only ${nMembers} members were read, expected at least ${minMembers}`] : [];
  return judge([...tooFew, ...problems], `${nMembers} members`);
}

async function textDirection(): Promise<Outcome> {
  const { nFiles, findings } = checkTextDirection(process.cwd());
  const tooFew = nFiles < minPageFiles ? [`only ${nFiles} files were read, expected at least ${minPageFiles}`] : [];
  return judge([...tooFew, ...findings], `${nFiles} files`);
}

async function regularExpressions(): Promise<Outcome> {
  const { nExpressions, findings } = checkRegularExpressions(process.cwd());
  const tooFew =
    nExpressions < minExpressions ? [`only ${nExpressions} patterns were read, expected at least ${minExpressions}`] : [];
  return judge([...tooFew, ...findings], `${nExpressions} patterns`);
}

async function nativeBindings(): Promise<Outcome> {
  const read = (paths: readonly string[]) => paths.map((path) => readFileSync(path, 'utf8')).join('\n');
  const addons = ['llama', 'system', 'vector', 'whisper'];
  const problems = addons.flatMap((addon) => {
    const common = addon === 'llama' ? globSync('native/common/*.{h,cpp}') : [];
    const sources = read([...common, ...globSync(`native/${addon}/{*,!(test)/*}.{h,cpp}`)]);
    return compareBinding(read([`ts/server/native/${addon}.ts`, 'ts/server/native/load.ts']), sources);
  });
  return judge(problems, addons.join(', '));
}

/** The pages, their tests and their bench know a browser's types, which nothing else may. */
async function pageTypes(): Promise<Outcome> {
  for (const project of ['ts/web', 'test/pages', 'bench/web']) {
    const outcome = await runNode('node_modules/typescript-native/bin/tsc', '-p', `${project}/tsconfig.json`);
    if (outcome.status !== 'passed') return outcome;
  }
  return { status: 'passed' };
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
  {
    name: 'types of the pages',
    remedy: 'correct the lines named above',
    run: pageTypes,
  },
  { name: 'import rules', remedy: 'see scripts/check/import-rules.ts and ARCHITECTURE.md', run: importRules },
  { name: 'budgets', remedy: 'make it smaller; scripts/check/budgets.ts has the numbers', run: budgets },
  { name: 'terms', remedy: 'use the words of scripts/check/terms.ts', run: terms },
  { name: 'traced request', remedy: 'make ARCHITECTURE.md and CONTRIBUTING.md say what the code does', run: tracedRequest },
  { name: 'openapi.json', remedy: 'npm run openapi', run: () => runNode('ts/server/openapi-file.ts', '--check') },
  {
    name: 'route types of the client',
    remedy: 'npm run openapi',
    run: () => runNode('scripts/web/route-types-file.ts', '--check'),
  },
  { name: 'text direction', remedy: 'name the start and the end of a line, not left and right', run: textDirection },
  {
    name: 'regular expressions',
    remedy: 'let no two repetitions beside each other take the same characters, and none begin within what it repeats',
    run: regularExpressions,
  },
  { name: 'documents', remedy: 'see scripts/check/documents.ts for what a page may be', run: documents },
  {
    name: 'reference pages',
    remedy: 'npm run format',
    run: async () =>
      judge(
        (await staleReferencePages()).map((path) => `${path} differs from the code`),
        '',
      ),
  },
  {
    name: 'members of clients',
    remedy: 'say in the schema of the route what becomes of the member: see ts/server/platform/schema/member-effect.ts',
    run: clientMembers,
  },
  { name: 'native format', remedy: 'npm run format', run: checkNativeFormat },
  { name: 'native includes', remedy: 'see scripts/check/native-includes.ts and native/llama/README.md', run: nativeIncludes },
  {
    name: 'option tables',
    remedy: 'npm run options',
    run: async () =>
      judge(
        staleOptionFiles().map((path) => `${path} differs from the tables of ts/server/native/options/`),
        '',
      ),
  },
  { name: 'native bindings', remedy: 'make native/*/ and ts/server/native/*.ts name the same methods', run: nativeBindings },
];

import { globSync, readFileSync } from 'node:fs';
import { compareBinding } from './binding.ts';
import type { Check, Outcome } from './check.ts';
import { runCommand, runNode } from './command.ts';
import { checkImports } from './imports.ts';
import { checkNativeFormat } from './native-format.ts';
import { checkReadme } from './readme.ts';

/** Fewer modules than this means that the tool lost its way, not that the code shrank. Raise it as the code grows. */
const minModules = 250;

function judge(problems: readonly string[], note: string): Outcome {
  return problems.length === 0 ? { status: 'passed', note } : { status: 'failed', output: problems.join('\n') };
}

async function importRules(): Promise<Outcome> {
  const { nModules, violations } = await checkImports(process.cwd());
  const tooFew = nModules < minModules ? [`only ${nModules} modules were read, expected at least ${minModules}`] : [];
  return judge([...tooFew, ...violations], `${nModules} modules`);
}

async function nativeBindings(): Promise<Outcome> {
  const sources = globSync('native/llama/*.{h,cpp}').map((path) => readFileSync(path, 'utf8'));
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
  { name: 'openapi.json', remedy: 'npm run openapi', run: () => runNode('ts/server/openapi-file.ts', '--check') },
  { name: 'README tables', remedy: 'npm run format', run: checkReadme },
  { name: 'native format', remedy: 'npm run format', run: checkNativeFormat },
  { name: 'native bindings', remedy: 'make native/*/ and ts/server/native/*.ts name the same methods', run: nativeBindings },
];

/** Finds names of the repository that use a replaced term. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { headingsInMarkdown, type Name, namesInCpp, namesInSource, wordsOf } from './names.ts';
import { type ReplacedTerm, replacedTerms } from './terms.ts';

const sources = [
  '{ts,scripts,bench,test,models,native}/**/*.{ts,mjs}',
  'packaging/{*,*/*}.ts',
  'native/**/*.{h,cpp}',
  '*.md',
  '{bench,docs,models,native,packaging,ts}/**/*.md',
];

interface TermReport {
  nNames: number;
  /** `file:line: the word, what to write`. */
  findings: string[];
}

/** @param root absolute path of a tree laid out like this repository. */
export function checkTerms(root: string): TermReport {
  const report: TermReport = { nNames: 0, findings: [] };
  for (const path of globSync(sources, { cwd: root }).sort()) {
    if (path.includes('node_modules/')) continue;
    const text = readFileSync(join(root, path), 'utf8');
    const names = namesIn(path, text);
    report.nNames += names.length;
    report.findings.push(...new Set(names.flatMap((name) => findTerms(path, name))));
  }
  return report;
}

function namesIn(path: string, text: string): Name[] {
  if (path.endsWith('.md')) return headingsInMarkdown(text);
  return /\.(h|cpp)$/.test(path) ? namesInCpp(path, text) : namesInSource(path, text);
}

function findTerms(path: string, { text, line }: Name): string[] {
  const words = ` ${wordsOf(text).join(' ')} `;
  return replacedTerms
    .filter((term) => !isElsewhere(term, path))
    .flatMap(({ words: forms, write, ordinary = [] }) => {
      const ours = ordinary.reduce((rest, each) => rest.replaceAll(` ${each} `, '  '), words);
      const found = forms.find((form) => ours.includes(` ${form} `) || ours.includes(` ${form}s `));
      return found ? [`${path}:${line}: ${text} has "${found}", write: ${write}`] : [];
    });
}

function isElsewhere({ elsewhere = {} }: ReplacedTerm, path: string): boolean {
  return Object.keys(elsewhere).some((prefix) => path.startsWith(prefix));
}

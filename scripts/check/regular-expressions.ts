/**
 * Patterns whose time grows faster than the text: two repetitions beside each other that take the same characters, one inside another, and one that
 * begins anew at each character of what it repeats. Every literal is looked at, since nobody can tell for long which of them meet text from outside.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { analyse, type Report } from 'scslre';
import ts from 'typescript';

interface ExpressionReport {
  nExpressions: number;
  /** `path:line: the pattern, and what of it is repeated`. */
  findings: string[];
}

/** @param root absolute path of a tree laid out like this repository. */
export function checkRegularExpressions(root: string): ExpressionReport {
  const paths = globSync('ts/**/*.{ts,tsx}', { cwd: root, exclude: ['**/*.{test,contract}.ts', '**/test-support/**'] }).sort();
  const found = paths.flatMap((path) => literalsOf(readFileSync(join(root, path), 'utf8'), path));
  const findings = found.flatMap(({ path, line, text }) => faultsOf(text).map((fault) => `${path}:${line}: ${text}: ${fault}`));
  return { nExpressions: found.length, findings };
}

interface Literal {
  path: string;
  line: number;
  text: string;
}

function literalsOf(source: string, path: string): Literal[] {
  // Parsing takes long, and most files have none.
  if (!source.includes('/')) return [];
  const kind = path.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, false, kind);
  const literals: Literal[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node))
      literals.push({ path, line: file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1, text: node.text });
    ts.forEachChild(node, visit);
  };
  visit(file);
  return literals;
}

/** @param literal with its slashes and flags. */
export function faultsOf(literal: string): string[] {
  // Without a repetition that has no end, no pattern takes long.
  if (!/[*+]|,\}/.test(literal)) return [];
  const end = literal.lastIndexOf('/');
  const { reports } = analyse({ source: literal.slice(1, end), flags: literal.slice(end + 1) });
  return [...new Set(reports.map(faultOf))];
}

function faultOf(report: Report): string {
  if (report.type === 'Trade') return `${report.startQuant.raw} and ${report.endQuant.raw} behind it take the same characters`;
  if (report.type === 'Self') return `${report.quant.raw} can take the same characters in several ways`;
  return `${report.quant.raw} begins anew at each character that it takes: a lookbehind says that it begins at the first`;
}

/** The names that a source file or a document brings into the world: those that a reader could search for. */
import { basename } from 'node:path';
import ts from 'typescript';

export interface Name {
  text: string;
  /** From 1. */
  line: number;
}

/** A settings key, metric, variable of the environment, error code: words joined by dots or underscores, and nothing else. */
const keyPattern = /^[A-Za-z0-9]+(?:[._][A-Za-z0-9]+)+$/;

/** Identifiers, and strings that are keys, of a TypeScript or JavaScript file; and the file's own name. */
export function namesInSource(path: string, source: string): Name[] {
  const kind = path.endsWith('.mjs') ? ts.ScriptKind.JS : ts.ScriptKind.TS;
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.ESNext, false, kind);
  const names: Name[] = [{ text: basename(path), line: 1 }];
  const visit = (node: ts.Node): void => {
    if (isName(node)) names.push({ text: node.text, line: file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1 });
    ts.forEachChild(node, visit);
  };
  visit(file);
  return names;
}

/** Of a C++ file, in this order of precedence: what is left out, and what is a name. */
const cppPattern =
  /\/\/.*|\/\*[\s\S]*?\*\/|R"(\w*)\([\s\S]*?\)\1"|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+'|(?<name>[A-Za-z_]\w*)|\d[\w'.]*/g;

/** Identifiers of a C++ file, and the file's own name. Comments and strings are left out. */
export function namesInCpp(path: string, source: string): Name[] {
  const names: Name[] = [{ text: basename(path), line: 1 }];
  let line = 1;
  let counted = 0;
  for (const { groups, index } of source.matchAll(cppPattern)) {
    if (groups?.['name'] === undefined) continue;
    line += source.slice(counted, index).split('\n').length - 1;
    counted = index;
    names.push({ text: groups['name'], line });
  }
  return names;
}

function isName(node: ts.Node): node is ts.Identifier | ts.PrivateIdentifier | ts.StringLiteralLike {
  return ts.isIdentifier(node) || ts.isPrivateIdentifier(node) || (ts.isStringLiteralLike(node) && keyPattern.test(node.text));
}

/** Headings of a Markdown document, outside fenced code. */
export function headingsInMarkdown(source: string): Name[] {
  let isCode = false;
  return source.split('\n').flatMap((text, index) => {
    if (/^\s*(```|~~~)/.test(text)) isCode = !isCode;
    return !isCode && /^#{1,6} /.test(text) ? [{ text, line: index + 1 }] : [];
  });
}

/** The words of a name in lowercase: `kvCacheHits`, `kv_cache_hits` and `KV cache hits` are the same three. */
export function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean);
}

/** Names that a file exports and no other file imports: they are the file's own, or nobody's. */
import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';

interface ExportReport {
  nExports: number;
  /** `path: name`. */
  unused: string[];
  /** Types alone: a function that is imported may say what it takes and gives. */
  unusedTypes: string[];
}

/** Texts by their path from the root. */
export type Sources = ReadonlyMap<string, string>;

/** @param root absolute path of a tree laid out like this repository. */
export function readSources(root: string): Sources {
  const paths = globSync('{ts,models,scripts,bench,test,native,packaging}/**/*.{ts,tsx,mjs}', { cwd: root }).sort();
  return new Map(paths.map((path) => [path, readFileSync(posix.join(root, path), 'utf8')]));
}

/** The formatter writes imports and exports in one way, so that patterns find them all. Tests and generated files export for no one. */
export function checkUnusedExports(sources: Sources): ExportReport {
  const uses = [...sources].flatMap(([path, text]) => usesOf(path, text));
  const named = new Set(uses.map(({ from, name }) => `${from}: ${name}`));
  const imported = new Set(uses.map(({ from }) => from));
  const whole = new Set(uses.filter(({ name }) => name === '*').map(({ from }) => from));
  // A file that nothing imports is a program, a worker, or is found by its path.
  const exporting = [...sources].filter(
    ([path]) => imported.has(path) && !whole.has(path) && !/\.(test|contract)\.ts$/.test(path),
  );
  const unusedOf = (namesOf: (text: string) => string[]) =>
    exporting.flatMap(([path, text]) => namesOf(text).map((name) => `${path}: ${name}`)).filter((name) => !named.has(name));
  return {
    nExports: exporting.flatMap(([, text]) => [...valuesOf(text), ...typesOf(text)]).length,
    unused: unusedOf(valuesOf),
    unusedTypes: unusedOf(typesOf),
  };
}

interface Use {
  from: string;
  /** `*`: all that it exports. */
  name: string;
}

const IMPORT = /^(?:import|export) (?:type )?(\*(?: as (\w+))?|\{[^}]*\}) from '(\.[^']+)';/gm;
const DYNAMIC = /(?:import\(|new URL\(|require\()\s*['`](\.[^'`]+)['`]/g;

function usesOf(path: string, text: string): Use[] {
  const target = (specifier: string) => posix.join(posix.dirname(path), specifier);
  const dynamic = [...text.matchAll(DYNAMIC)].map(([, specifier = '']) => ({ from: target(specifier), name: '*' }));
  const fixed = [...text.matchAll(IMPORT)].flatMap(([, names = '', namespace, specifier = '']) => {
    const from = target(specifier);
    if (!names.startsWith('*')) return namesIn(names).map(({ name }) => ({ from, name }));
    if (namespace === undefined) return [{ from, name: '*' }];
    const taken = text.matchAll(new RegExp(`(\\{[^{}]*\\}) = ${namespace};|\\b${namespace}\\.(\\w+)`, 'g'));
    return [...taken]
      .flatMap(([, braces = '{}', name]) => [...namesIn(braces), ...(name === undefined ? [] : [{ name }])])
      .map(({ name }) => ({ from, name }));
  });
  return [...dynamic, ...fixed];
}

const VALUE = /^export (?:abstract )?(?:async )?(?:function\*?|const|let|class) (\w+)/gm;
const TYPE = /^export (?:declare )?(?:interface|type) (\w+)/gm;
const LIST = /^export (type )?(\{[^}]*\})/gm;

function valuesOf(text: string): string[] {
  const listed = [...text.matchAll(LIST)].flatMap(([, type, names = '']) => (type === undefined ? namesIn(names) : []));
  return [...declared(text, VALUE), ...listed.filter(({ isType }) => !isType).map(({ alias }) => alias)];
}

/** A type that has the name of a value stands beside it. */
function typesOf(text: string): string[] {
  const listed = [...text.matchAll(LIST)].flatMap(([, type, names = '']) =>
    namesIn(names).filter(({ isType }) => isType || type !== undefined),
  );
  const values = new Set(valuesOf(text));
  return [...declared(text, TYPE), ...listed.map(({ alias }) => alias)].filter((name) => !values.has(name));
}

function declared(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, name = '']) => name);
}

interface ListedName {
  name: string;
  /** The name that it has behind the braces. */
  alias: string;
  isType: boolean;
}

function namesIn(braces: string): ListedName[] {
  const parts = braces.slice(1, -1).split(',');
  return parts.flatMap((part) => {
    const [, type, name, alias] = /^\s*(type )?(\w+)(?: as (\w+))?\s*$/.exec(part) ?? [];
    return name === undefined ? [] : [{ name, alias: alias ?? name, isType: type !== undefined }];
  });
}

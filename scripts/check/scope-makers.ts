/**
 * Who may make a tenant's or the system's scope: a store function trusts the scope that it is given, so whoever can make one can read
 * any tenant's rows. The functions stand beside types that everybody needs, so the names imported are checked, not the files.
 */
import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import ts from 'typescript';

const makers = new Set(['tenantScope', 'systemScope']);
const storage = 'ts/server/platform/storage/';

const allowed = [
  /^ts\/server\/domains\/identity\//,
  // A principal is what a credential stands for, and only authenticators make one.
  /^ts\/server\/platform\/http\/principal\.ts$/,
  // They work for every tenant, and carry each one's scope.
  /^ts\/server\/platform\/(jobs|events)\//,
  /^ts\/server\/platform\/storage\//,
  /^ts\/server\/domains\/retrieval\/search\/index-warming\.ts$/,
  // They delete what has expired, whosever it is.
  /^ts\/server\/domains\/conversations\/sweep\.ts$/,
  /^ts\/server\/domains\/completions\/stored-responses\/response-sweep\.ts$/,
  /^ts\/server\/domains\/data\/sweep\.ts$/,
  // The installation belongs to no tenant.
  /^ts\/server\/domains\/license\/installation-store\.ts$/,
  // Usage of all tenants is counted and written together, and superadmins see it.
  /^ts\/server\/domains\/(metering|security)\/access-check\.ts$/,
  // They tell each tenant's webhooks of that tenant's events, and send what is due, whosever it is.
  /^ts\/server\/domains\/webhooks\/(store\/|delivery\/fan-out\.ts$)/,
  // Backends, routes and prices belong to nodes.
  /^ts\/server\/domains\/cloud\/store\.ts$/,
  /^ts\/server\/domains\/files\/uploads\/upload-sweep\.ts$/,
  /\.(test|contract)\.ts$/,
  /\/test-support\//,
];

interface ScopeMakerReport {
  nFiles: number;
  /** `rule: file -> what it takes`, like those of the import rules. */
  violations: string[];
}

/** @param root absolute path of a tree laid out like this repository. */
export function checkScopeMakers(root: string): ScopeMakerReport {
  const files = globSync('ts/**/*.ts', { cwd: root }).sort();
  const violations = files
    .filter((path) => !allowed.some((pattern) => pattern.test(path)))
    .flatMap((path) => {
      const taken = makersTaken(path, readFileSync(posix.join(root, path), 'utf8'));
      return taken.map((name) => `only-identity-and-storage-make-scopes: ${path} -> ${name}`);
    });
  return { nFiles: files.length, violations };
}

/** Makers that a file imports or passes on; `*` for the whole of the storage. */
function makersTaken(path: string, source: string): string[] {
  return ts
    .createSourceFile(path, source, ts.ScriptTarget.ESNext)
    .statements.filter((statement) => ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement))
    .filter(({ moduleSpecifier: from }) => from && ts.isStringLiteral(from) && isStorage(path, from.text))
    .flatMap(namesTaken)
    .filter((name) => name === '*' || makers.has(name));
}

function isStorage(path: string, specifier: string): boolean {
  return specifier.startsWith('.') && posix.join(posix.dirname(path), specifier).startsWith(storage);
}

function namesTaken(statement: ts.ImportDeclaration | ts.ExportDeclaration): string[] {
  if (ts.isExportDeclaration(statement)) {
    const { exportClause } = statement;
    return exportClause && ts.isNamedExports(exportClause) ? originalNames(exportClause.elements) : ['*'];
  }
  const bindings = statement.importClause?.namedBindings;
  if (bindings === undefined) return [];
  return ts.isNamedImports(bindings) ? originalNames(bindings.elements) : ['*'];
}

function originalNames(elements: readonly (ts.ImportSpecifier | ts.ExportSpecifier)[]): string[] {
  return elements.map(({ name, propertyName }) => (propertyName ?? name).text);
}

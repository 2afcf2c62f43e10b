/**
 * Functions that few may call, though they stand beside types that everybody needs: the names that are imported are checked, not the files. Whoever
 * can make a tenant's or the system's scope can read any tenant's rows, since a store function trusts the scope that it is given. Whoever can run a
 * tool goes past all that is asked before one is run.
 */
import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import ts from 'typescript';

interface GuardedNames {
  readonly rule: string;
  readonly names: ReadonlySet<string>;
  /** Modules that have them begin so. */
  readonly from: string;
  readonly allowed: readonly RegExp[];
}

const mayMakeScopes = [
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
  // Nodes belong to no tenant.
  /^ts\/server\/domains\/cluster\/(node-store|replica\/database-copies)\.ts$/,
  // The installation belongs to no tenant.
  /^ts\/server\/domains\/license\/installation-store\.ts$/,
  // Usage of all tenants is counted and written together, and superadmins see it.
  /^ts\/server\/domains\/(edge|metering|security|swarm)\/access-check\.ts$/,
  // They tell each tenant's webhooks of that tenant's events, and send what is due, whosever it is.
  /^ts\/server\/domains\/webhooks\/(store\/|delivery\/fan-out\.ts$)/,
  // How fast a scientific source is asked belongs to no tenant.
  /^ts\/server\/domains\/science\/tables\.ts$/,
  // Lines of a network, and what rules find in them, belong to nodes.
  /^ts\/server\/domains\/logs\/detection\/tables\.ts$/,
  // Dreams begin by schedule for each owner, and conversations are read for each account that lets it be done, of whichever tenant.
  /^ts\/server\/domains\/memory\/(dream-schedule|extraction\/extractions|files\/file-pins)\.ts$/,
  // A node connects to devices of all tenants, and keeps what they say together.
  /^ts\/server\/domains\/iot\/tables\.ts$/,
  // A node looks after the messages of all tenants that it sends.
  /^ts\/server\/domains\/comm\/(tables|delivery|comm-module)\.ts$/,
  // Backends, routes and prices belong to nodes.
  /^ts\/server\/domains\/cloud\/store\.ts$/,
  /^ts\/server\/domains\/files\/uploads\/upload-sweep\.ts$/,
  /\.(test|contract)\.ts$/,
  /\/test-support\//,
];

const GUARDED: readonly GuardedNames[] = [
  {
    rule: 'only-identity-and-storage-make-scopes',
    names: new Set(['tenantScope', 'systemScope']),
    from: 'ts/server/platform/storage/',
    allowed: mayMakeScopes,
  },
  {
    rule: 'only-the-executor-runs-tools',
    names: new Set(['runTool']),
    from: 'ts/server/platform/tools/',
    allowed: [/^ts\/server\/domains\/edge\/calls\/tool-executor\.ts$/],
  },
];

interface ScopeMakerReport {
  nFiles: number;
  /** `rule: file -> what it takes`, like those of the import rules. */
  violations: string[];
}

/** @param root absolute path of a tree laid out like this repository. */
export function checkScopeMakers(root: string): ScopeMakerReport {
  const files = globSync('ts/**/*.ts', { cwd: root }).sort();
  const violations = files.flatMap((path) => {
    const guarding = GUARDED.filter(({ allowed }) => !allowed.some((pattern) => pattern.test(path)));
    const source = readFileSync(posix.join(root, path), 'utf8');
    return guarding.flatMap((guarded) =>
      namesTakenOf(guarded, path, source).map((name) => `${guarded.rule}: ${path} -> ${name}`),
    );
  });
  return { nFiles: files.length, violations };
}

/** The guarded names that a file imports or passes on; `*` for all of a module that has some. */
function namesTakenOf({ names, from: folder }: GuardedNames, path: string, source: string): string[] {
  return ts
    .createSourceFile(path, source, ts.ScriptTarget.ESNext)
    .statements.filter((statement) => ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement))
    .filter(({ moduleSpecifier: from }) => from && ts.isStringLiteral(from) && leadsTo(folder, path, from.text))
    .flatMap(namesTaken)
    .filter((name) => name === '*' || names.has(name));
}

function leadsTo(folder: string, path: string, specifier: string): boolean {
  return specifier.startsWith('.') && posix.join(posix.dirname(path), specifier).startsWith(folder);
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

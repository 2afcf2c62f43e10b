/**
 * Tests have names: the path of a test file, or that of a contract and the database on which it runs, `x.contract.ts [sqlite]`. A contract is
 * as many tests as there are databases.
 */
import { globSync } from 'node:fs';
import { join } from 'node:path';

/** Packages that were made, with copies of the checkout. */
const packagesMade = join('packaging', 'out', '/');
const folders = ['ts', 'native', 'scripts', 'models', 'test', 'bench', 'packaging'];
const databases = ['sqlite', 'postgres'];
const isContract = (path: string) => path.endsWith('.contract.ts');
const ofDatabase = / \[(\w+)\]$/;

/** Every test of a checkout, by name. */
export function listTestFiles(root: string): string[] {
  const found = folders.flatMap((folder) => globSync(join(folder, '**', '*.{test,contract}.ts'), { cwd: root }));
  return found
    .filter((path) => !path.startsWith(packagesMade))
    .flatMap(namesOf)
    .sort();
}

/** Of what somebody asked to run: a contract without a database runs on each. */
export function namesOf(asked: string): string[] {
  return isContract(asked) ? databases.map((database) => `${asked} [${database}]`) : [asked];
}

/** The file of a test. */
export function pathOf(name: string): string {
  return name.replace(ofDatabase, '');
}

/** The database of a contract; undefined for any other test. */
export function databaseOf(name: string): string | undefined {
  return ofDatabase.exec(name)?.[1];
}

/** What tells a contract its database: `onEachDatabase()` reads it. */
export function databaseVariable(name: string): NodeJS.ProcessEnv {
  const database = databaseOf(name);
  return database === undefined ? {} : { SVC_TEST_DATABASE: database };
}

/** Those that load the addons, which run sanitised as well. */
export function nativeTestFiles(files: readonly string[]): string[] {
  return files.filter((file) => /^(native\/(llama|vector)\/test|ts\/server\/native)\/[^/]+$/.test(file));
}

/** The npm packages whose code a bundler took in. */
import { join } from 'node:path';
import { type NpmPackage, readNpmPackage } from '../bundle/npm-package.ts';

/** `inputs` are the files that the bundler read, relative to the checkout. Throws for a package that is not installed. */
export function bundledPackages(source: string, inputs: readonly string[]): NpmPackage[] {
  const names = inputs.map((path) => /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(path)?.[1]);
  return [...new Set(names.filter((name) => name !== undefined))].sort().map((name) => {
    const found = readNpmPackage(join(source, 'node_modules', name), name);
    if (found === undefined) throw new Error(`the package ${name} is in the bundle, and not installed`);
    return found;
  });
}

/** Which files of the checkout a file needs: what it imports as it runs, and what it names by a path, as it names programs and data. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathOf } from './test-files.ts';

/** Types are erased: what only they come from is not run. */
const typesAlone = /^(?:import|export) type [^;]*?;$/gms;
const quoted = /(['"`])((?:\.{1,2}\/|[\w-]+\/)*[\w.@-]+\.(?:ts|tsx|mjs|cjs|js|json|sh|css|html|py|toml|md))\1/g;
const code = /\.(ts|tsx|mjs|cjs)$/;

export class ImportGraph {
  readonly #root: string;
  readonly #named = new Map<string, readonly string[]>();
  readonly #sources = new Map<string, string>();

  /** `root`: the folder that all paths are relative to. */
  constructor(root: string) {
    this.#root = root;
  }

  /** The file of a test and all that it needs, and what those need; what `isEnd` names is in it, but not what that needs. */
  closure(test: string, isEnd: (path: string) => boolean = () => false): Set<string> {
    const file = pathOf(test);
    const found = new Set([file]);
    // A set gives what is added while one walks through it as well.
    for (const each of found) if (each === file || !isEnd(each)) for (const needed of this.#namedBy(each)) found.add(needed);
    return found;
  }

  source(test: string): string {
    const file = pathOf(test);
    const known = this.#sources.get(file);
    if (known !== undefined) return known;
    const source = readFileSync(join(this.#root, file), 'utf8');
    this.#sources.set(file, source);
    return source;
  }

  #namedBy(file: string): readonly string[] {
    const known = this.#named.get(file);
    if (known) return known;
    const named = code.test(file) ? this.#read(file) : [];
    this.#named.set(file, named);
    return named;
  }

  #read(file: string): string[] {
    const paths = [...this.source(file).replaceAll(typesAlone, '').matchAll(quoted)].map(([, , path = '']) => path);
    const places = paths.flatMap((path) => [join(dirname(file), path), ...(path.startsWith('.') ? [] : [path])]);
    return [...new Set(places)].filter((place) => this.#isFile(place));
  }

  #isFile(path: string): boolean {
    if (path.startsWith('..')) return false;
    const absolute = join(this.#root, path);
    return existsSync(absolute) && statSync(absolute).isFile();
  }
}

/** One package on its way: what it is, where it is laid out, and what makes files of it. */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { cudaLicenses, findCudaToolkit } from '../scripts/setup/cuda.mjs';
import { buildDeb } from './deb/build-deb.ts';
import type { Flavour } from './flavour.ts';
import { buildOci } from './oci/build-oci.ts';
import { buildRpm } from './rpm/build-rpm.ts';
import { signRpm } from './signing/sign.ts';
import type { SigningKey } from './signing/signing-key.ts';
import { gpuLibrary, writeGpuTree } from './tree/gpu-tree.ts';
import { writeTree } from './tree/install-tree.ts';

interface MakingOptions {
  /** The checkout. */
  source: string;
  flavour: Flavour;
  version: string;
  /** CMake preset whose libraries are taken; undefined: the flavour's own. */
  preset?: string | undefined;
  /** For svc-cuda: the backend library, and the folder of the toolkit's; undefined: the preset's, and the usual one. */
  gpuLibrary?: string | undefined;
  toolkit?: string | undefined;
}

export interface RpmChoices {
  /** The package's own release; 1 unless told. */
  release?: string;
  key?: SigningKey | undefined;
  /** Larger, and made sooner. */
  isQuick?: boolean;
}

export class Making {
  readonly flavour: Flavour;
  readonly version: string;
  readonly tree: string;
  readonly sourceDateEpoch: number;
  readonly #options: MakingOptions;

  constructor(options: MakingOptions) {
    const { source, flavour, version } = options;
    this.#options = options;
    this.flavour = flavour;
    this.version = version;
    this.tree = join(source, 'packaging/out', `tree-${flavour.packageName}-${flavour.name === 'macos' ? 'macos' : flavour.arch}`);
    this.sourceDateEpoch = commitTime(source);
  }

  /** Build folder of the preset. */
  get build(): string {
    return join(this.#options.source, 'build', this.#options.preset ?? this.flavour.preset);
  }

  /** What has to be built before; undefined: it is. */
  whyNot(): string | undefined {
    const { gpuLibrary: library } = this.#options;
    const needed = this.flavour.hasServer
      ? join(this.build, 'lib/svc_system.node')
      : (library ?? join(this.build, 'lib', gpuLibrary));
    if (existsSync(needed)) return undefined;
    return `${needed} is not built: node scripts/build.mjs --preset ${this.#options.preset ?? this.flavour.preset}`;
  }

  /** Throws what whyNot() says. */
  async layOut(): Promise<void> {
    const why = this.whyNot();
    if (why !== undefined) throw new Error(why);
    const { source, gpuLibrary: library, toolkit } = this.#options;
    const nativeFolder = join(this.build, 'lib');
    if (this.flavour.hasServer) {
      const { flavour, version, tree, sourceDateEpoch } = this;
      await writeTree({ source, destination: tree, flavour, version, nativeFolder, sourceDateEpoch });
    } else
      await writeGpuTree({
        source,
        destination: this.tree,
        library: library ?? join(nativeFolder, gpuLibrary),
        ...toolkitOf(toolkit),
      });
  }

  /** Each of these resolves to the path of its file in the folder. */
  async rpm(outFolder: string, { release = '1', key, isQuick = false }: RpmChoices = {}): Promise<string> {
    const file = await buildRpm({ ...this.#facts(outFolder), release, isQuick });
    if (key) await signRpm(file, key);
    return file;
  }

  deb(outFolder: string, revision?: string): Promise<string> {
    return buildDeb({ ...this.#facts(outFolder), revision });
  }

  oci(outFolder: string): Promise<string> {
    return buildOci(this.#facts(outFolder));
  }

  #facts(outFolder: string) {
    const { flavour, tree, version, sourceDateEpoch } = this;
    return { flavour, tree, version, sourceDateEpoch, outFolder };
  }
}

/** Returns the folder that is named, or that of the toolkit that the library is compiled with. */
function toolkitOf(named: string | undefined): { toolkit: string; licenses: readonly string[] } {
  if (named !== undefined) {
    const folder = join(named, '..');
    return { toolkit: named, licenses: globSync('{EULA,LICENSE}*.txt', { cwd: folder }).map((name) => join(folder, name)) };
  }
  const found = findCudaToolkit();
  return found === undefined
    ? { toolkit: '/usr/local/cuda/lib64', licenses: [] }
    : { toolkit: found.libraries, licenses: cudaLicenses(found) };
}

/** The time of the commit stands for the time of the build. */
export function commitTime(source: string): number {
  const given = Number(process.env['SOURCE_DATE_EPOCH']);
  if (Number.isInteger(given) && given > 0) return given;
  return Number(execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: source, encoding: 'utf8' }).trim());
}

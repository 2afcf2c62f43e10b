/** Makes an RPM of a tree. rpm sets no time of its own, so that the same tree gives the same bytes. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { readPins } from '../../scripts/setup/sources.mjs';
import type { Flavour } from '../flavour.ts';
import { runTool } from '../run-tool.ts';
import { layout } from '../tree/layout.ts';

interface RpmOptions {
  flavour: Flavour;
  /** Folder that holds what is installed. */
  tree: string;
  version: string;
  /** Of the package: `1`, or `1.fc43` for one release alone. */
  release: string;
  outFolder: string;
  sourceDateEpoch: number;
  /** Half as well, in a tenth of the time. */
  isQuick?: boolean;
}

/** Resolves to the path of the package. */
export async function buildRpm({
  flavour,
  tree,
  version,
  release,
  outFolder,
  sourceDateEpoch,
  isQuick = false,
}: RpmOptions): Promise<string> {
  const top = mkdtempSync(join(tmpdir(), 'svc-rpm-'));
  try {
    const definitions = {
      _topdir: top,
      svc_name: flavour.packageName,
      svc_version: version,
      svc_release: release,
      svc_arch: flavour.arch,
      svc_tree: tree,
      svc_payload: isQuick ? 'w3.zstdio' : 'w12.zstdio',
      svc_program: `/${layout.program}`,
      svc_engine: readPins()['llama.cpp']?.version ?? '',
      svc_date: changelogDate(sourceDateEpoch),
    };
    const defines = Object.entries(definitions).flatMap(([name, value]) => ['--define', `${name} ${value}`]);
    const spec = join(import.meta.dirname, flavour.hasServer ? 'svc.spec' : 'svc-cuda.spec');
    const env = { SOURCE_DATE_EPOCH: String(sourceDateEpoch), LC_ALL: 'C' };
    await runTool('rpmbuild', ['-bb', '--target', `${flavour.arch}-linux`, ...defines, spec], { env, debianPackage: 'rpm' });
    const file = `${flavour.packageName}-${version}-${release}.${flavour.arch}.rpm`;
    mkdirSync(outFolder, { recursive: true });
    copyFileSync(join(top, 'RPMS', flavour.arch, file), join(outFolder, basename(file)));
    return join(outFolder, file);
  } finally {
    rmSync(top, { recursive: true, force: true });
  }
}

/** As in `Mon Nov 23 2026`. */
function changelogDate(sourceDateEpoch: number): string {
  return new Date(sourceDateEpoch * 1000).toUTCString().replace(/^(\w{3}), (\d{2}) (\w{3}) (\d{4}).*/, '$1 $3 $2 $4');
}

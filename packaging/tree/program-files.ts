/** The program of an installed svc: its bundle, the packages beside it, their licenses and the list of all of it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Pin, readPins, sourceFolder } from '../../scripts/setup/sources.mjs';
import { writeBundle } from '../bundle/bundle.ts';
import { PackageFinder } from '../bundle/package-finder.ts';
import { mediaPackages, runtimePackages, unbundled } from '../bundle/runtime-packages.ts';
import { bundledPackages } from '../sbom/bundled-packages.ts';
import { pagePackages } from '../sbom/page-packages.ts';
import { spdxDocument } from '../sbom/spdx-document.ts';
import { copyFile, writeFile } from './copy-file.ts';
import { copyLicenses } from './copy-licenses.ts';
import { copyPackage } from './copy-package.ts';
import type { TreeOptions } from './install-tree.ts';
import { placeIn } from './layout.ts';

export async function writeProgramFiles(options: TreeOptions): Promise<void> {
  const { source, destination, flavour, version, sourceDateEpoch } = options;
  const finder = new PackageFinder(source, flavour.target);
  const node = await finder.find(flavour.nodePackage);
  if (node === undefined) throw new Error(`package-lock.json has no ${flavour.nodePackage}`);
  copyFile(join(node.folder, 'bin/node'), placeIn(destination, 'node'), 0o755);
  copyLicenses(destination, { ...node, name: 'nodejs' });
  const inputs = await writeBundle(source, placeIn(destination, 'dist'));
  const beside = await runtimePackages(
    finder,
    unbundled.filter((name) => flavour.hasMedia || !mediaPackages.includes(name)),
  );
  for (const each of beside) {
    copyPackage(each, flavour.target, placeIn(destination, 'packages'));
    copyLicenses(destination, each);
  }
  const inside = [...bundledPackages(source, inputs), ...(flavour.hasPages ? await pagePackages(source) : [])];
  for (const each of inside) copyLicenses(destination, each);
  const sources = compiledSources(options.nativeFolder);
  for (const [name, pin] of sources)
    copyLicenses(destination, {
      name,
      author: '',
      folder: sourceFolder(pin),
      version: pin.upstreamVersion,
      license: pin.license,
    });
  const manifest = { name: 'svc', version, private: true, type: 'module', license: 'Apache-2.0' };
  writeFile(placeIn(destination, 'manifest'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  const packages = [...new Map([...inside, ...beside].map((each) => [each.name, each])).values()];
  const sbom = spdxDocument({ version, packages, node, flavour, sources, sourceDateEpoch });
  writeFile(placeIn(destination, 'docs', 'sbom.spdx.json'), `${JSON.stringify(sbom, undefined, 2)}\n`);
}

/** The pinned sources that are in the native libraries. */
function compiledSources(nativeFolder: string): [name: string, pin: Pin][] {
  const hasWhisper = existsSync(join(nativeFolder, 'svc_whisper.node'));
  return Object.entries(readPins()).filter(([name]) => name !== 'whisper.cpp' || hasWhisper);
}

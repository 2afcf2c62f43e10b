/** What is in a package, as an SPDX 2.3 document (ISO/IEC 5962). */
import type { Pin } from '../../scripts/setup/sources.mjs';
import type { NpmPackage } from '../bundle/npm-package.ts';
import type { Flavour } from '../flavour.ts';

interface SbomInput {
  version: string;
  packages: readonly NpmPackage[];
  /** The Node that ships. */
  node: NpmPackage;
  flavour: Flavour;
  /** The pinned sources that the native libraries are compiled from. */
  sources: readonly [name: string, pin: Pin][];
  sourceDateEpoch: number;
}

interface SpdxPackage {
  SPDXID: string;
  name: string;
  versionInfo: string;
  downloadLocation: string;
  licenseConcluded: string;
  licenseDeclared: string;
  copyrightText: string;
  filesAnalyzed: boolean;
  /** LIBRARY: an npm package that runs. SOURCE: what native libraries are compiled from. */
  primaryPackagePurpose: 'APPLICATION' | 'LIBRARY' | 'SOURCE';
  externalRefs?: { referenceCategory: string; referenceType: string; referenceLocator: string }[];
}

export function spdxDocument({ version, packages, node, flavour, sources, sourceDateEpoch }: SbomInput) {
  const product = describe(flavour.packageName, version, 'Apache-2.0', 'APPLICATION');
  const parts = [...packages.map(ofNpm), ...sources.map(ofSource), ofNode(node)].sort((a, b) => (a.SPDXID < b.SPDXID ? -1 : 1));
  const name = `${flavour.packageName}-${version}.${flavour.arch}`;
  return {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name,
    documentNamespace: `urn:svc:sbom:${name}`,
    creationInfo: {
      created: new Date(sourceDateEpoch * 1000).toISOString().replace('.000', ''),
      creators: ['Tool: svc-package'],
    },
    packages: [product, ...parts],
    relationships: [
      { spdxElementId: 'SPDXRef-DOCUMENT', relationshipType: 'DESCRIBES', relatedSpdxElement: product.SPDXID },
      ...parts.map(({ SPDXID }) => ({ spdxElementId: product.SPDXID, relationshipType: 'CONTAINS', relatedSpdxElement: SPDXID })),
    ],
  };
}

function describe(
  name: string,
  version: string,
  license: string,
  primaryPackagePurpose: SpdxPackage['primaryPackagePurpose'],
  locator?: string,
): SpdxPackage {
  return {
    SPDXID: `SPDXRef-${name.replace(/[^A-Za-z0-9.-]+/g, '-').replace(/^-/, '')}`,
    name,
    versionInfo: version,
    downloadLocation: 'NOASSERTION',
    licenseConcluded: license,
    licenseDeclared: license,
    copyrightText: 'NOASSERTION',
    filesAnalyzed: false,
    primaryPackagePurpose,
    ...(locator !== undefined && {
      externalRefs: [{ referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: locator }],
    }),
  };
}

function ofNpm({ name, published = name, version, license }: NpmPackage): SpdxPackage {
  return describe(name, version, license, 'LIBRARY', `pkg:npm/${published.replace('@', '%40')}@${version}`);
}

function ofNode({ name, version }: NpmPackage): SpdxPackage {
  return describe('nodejs', version, 'MIT', 'APPLICATION', `pkg:npm/${name}@${version}`);
}

function ofSource([name, { package: published, version, license }]: [string, Pin]): SpdxPackage {
  return describe(name, version, license, 'SOURCE', `pkg:npm/${published.replace('@', '%40')}@${version}`);
}

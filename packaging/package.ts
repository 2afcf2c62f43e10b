/**
 * npm run package -- tree|rpm|deb|oci [--arch aarch64] [--cuda|--minimal|--macos] [--preset NAME] [--release N]: lays out an installed svc and makes
 * packages of it in packaging/out/. Prints the files that it made. RPMs are signed where SVC_SIGNING_KEY names a key.
 * npm run package -- repository --base-url URL: a repository of the RPMs that are there.
 * npm run package -- verify: makes all packages whose libraries are built, installs them, runs what they install, upgrades and removes it;
 * ends with `N passed, N failed`.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { INSTALL_ROOT, VERSION } from '../ts/server/product.ts';
import { type Arch, type FlavourName, findFlavour } from './flavour.ts';
import { commitTime, Making } from './making.ts';
import { buildRepository } from './repository/build-repository.ts';
import { findSigningKey } from './signing/signing-key.ts';
import { verify } from './verify/verify.ts';

const out = join(INSTALL_ROOT, 'packaging/out');
const kinds = ['tree', 'rpm', 'deb', 'oci', 'repository', 'verify'];

const { values, positionals } = parseArgs({
  options: {
    arch: { type: 'string' },
    cuda: { type: 'boolean', default: false },
    minimal: { type: 'boolean', default: false },
    macos: { type: 'boolean', default: false },
    preset: { type: 'string' },
    'gpu-library': { type: 'string' },
    toolkit: { type: 'string' },
    release: { type: 'string', default: '1' },
    version: { type: 'string', default: VERSION },
    'base-url': { type: 'string', default: '' },
  },
  allowPositionals: true,
});

try {
  await make(positionals);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}

async function make(asked: readonly string[]): Promise<void> {
  if (asked.length === 0 || asked.some((kind) => !kinds.includes(kind)))
    throw new Error(`name what to make: ${kinds.join(', ')} (npm run package -- rpm)`);
  if (asked.includes('verify')) return await verifyAll();
  if (asked.some((kind) => kind !== 'repository')) await makePackages(asked);
  if (!asked.includes('repository')) return;
  const where = { packages: out, destination: join(out, 'repository'), baseUrl: values['base-url'] };
  console.log(await buildRepository({ ...where, key: findSigningKey(), sourceDateEpoch: commitTime(INSTALL_ROOT) }));
}

async function makePackages(asked: readonly string[]): Promise<void> {
  const making = makingOf(flavourName(), archOf(values.arch ?? (values.macos ? 'aarch64' : 'x86_64')), values.preset);
  if (!making.flavour.hasServer && asked.includes('oci'))
    throw new Error('svc-cuda is an RPM and a Debian package: npm run package -- rpm deb --cuda');
  if (values.macos && asked.some((kind) => kind !== 'tree')) throw new Error('packaging/macos/build.sh makes the macOS package');
  await making.layOut();
  if (asked.includes('tree')) console.log(making.tree);
  if (asked.includes('rpm')) console.log(await making.rpm(out, { release: values.release, key: findSigningKey() }));
  if (asked.includes('deb')) console.log(await making.deb(out));
  if (asked.includes('oci')) console.log(await making.oci(out));
}

/** Those that are named by --arch and --minimal, or all; --preset is for those of this machine's CPU. */
async function verifyAll(): Promise<void> {
  const all: [FlavourName, Arch][] = [
    ['cpu', 'x86_64'],
    ['cpu', 'aarch64'],
    ['minimal', 'aarch64'],
  ];
  const wanted = all.filter(([name, arch]) => arch === (values.arch ?? arch) && (!values.minimal || name === 'minimal'));
  const makings = wanted.map(([name, arch]) => makingOf(name, arch, arch === 'x86_64' ? values.preset : undefined));
  const checks = await verify(makings, join(out, 'verify'), INSTALL_ROOT);
  const { passed, failed, skipped } = checks;
  checks.printFailuresAgain();
  if (skipped > 0) console.log(`${skipped} skipped (each says why above)`);
  console.log(`${passed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
}

function makingOf(name: FlavourName, arch: Arch, preset: string | undefined): Making {
  const { version, toolkit } = values;
  return new Making({
    source: INSTALL_ROOT,
    flavour: findFlavour(name, arch),
    version,
    preset,
    toolkit,
    gpuLibrary: values['gpu-library'],
  });
}

function flavourName(): FlavourName {
  const named = (['cuda', 'minimal', 'macos'] as const).filter((name) => values[name]);
  if (named.length > 1) throw new Error(`${named.map((name) => `--${name}`).join(' and ')} are packages of their own: name one`);
  return named[0] ?? 'cpu';
}

function archOf(text: string): Arch {
  if (text === 'x86_64' || text === 'aarch64') return text;
  throw new Error(`--arch is "${text}": give x86_64 or aarch64`);
}

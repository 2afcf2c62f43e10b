/** Makes packages, installs and runs what they install, and takes them away again. */
import { rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { findFlavour } from '../flavour.ts';
import { Making, type RpmChoices } from '../making.ts';
import { Checks } from './checks.ts';
import { ScratchRoot } from './scratch-root.ts';
import { findStandIn } from './stand-in.ts';
import { verifyCopy } from './verify-copy.ts';
import { verifyDeb, whyNoDeb } from './verify-deb.ts';
import { verifyGpu } from './verify-gpu.ts';
import { verifyLibraries } from './verify-libraries.ts';
import { verifyMinimal } from './verify-minimal.ts';
import { verifyOci } from './verify-oci.ts';
import { verifyParts } from './verify-parts.ts';
import { verifyRpm } from './verify-rpm.ts';
import { verifySigning } from './verify-signing.ts';
import { verifySystemFiles } from './verify-system-files.ts';

/** Each package has a folder of its own below `folder`, which is emptied first; `source` is the checkout. */
export async function verify(makings: readonly Making[], folder: string, source: string): Promise<Checks> {
  const checks = new Checks();
  for (const making of makings) {
    const { packageName, arch } = making.flavour;
    const what = `${packageName} ${arch}`;
    const why = making.whyNot();
    if (why !== undefined) checks.skip(what, why);
    else await verifyOne(checks, making, join(folder, `${packageName}-${arch}`), source);
  }
  return checks;
}

async function verifyOne(checks: Checks, making: Making, folder: string, source: string): Promise<void> {
  const { flavour, tree } = making;
  const what = `${flavour.packageName} ${flavour.arch}`;
  rmSync(folder, { recursive: true, force: true });
  await checks.try(`${what}: is laid out`, async () => {
    await making.layOut();
    return `libraries of ${basename(making.build)}`;
  });
  await verifyParts(checks, tree, what);
  await verifyLibraries(checks, making, what);
  const rpm = (name: string, choices?: RpmChoices) => making.rpm(join(folder, name), choices);
  const isHere = flavour.target.arch === process.arch;
  const file = await rpm('first');
  const newer = isHere ? await rpm('newer', { release: '2', isQuick: true }) : undefined;
  const others = newer === undefined ? undefined : { again: await rpm('again'), newer };
  await verifyRpm(checks, { file, others }, flavour, join(folder, 'root'));
  if (flavour.name === 'minimal') await verifyMinimal(checks, tree);
  if (newer !== undefined) await verifyHere(checks, making, [file, newer], folder, source);
}

/** What is the same for every CPU is tried once, with the package of this machine's own. */
async function verifyHere(
  checks: Checks,
  making: Making,
  rpms: readonly [string, string],
  folder: string,
  source: string,
): Promise<void> {
  const { sourceDateEpoch, flavour, tree, version } = making;
  await verifySystemFiles(checks, tree);
  await verifySigning(checks, rpms, folder, sourceDateEpoch);
  const args = ['--arch', flavour.arch, '--preset', basename(making.build), '--version', version];
  await verifyCopy(checks, { source, tree, args, folder: join(folder, 'copy'), sourceDateEpoch });
  const why = await whyNoDeb();
  const gpu = gpuPackage(making, source);
  if (why === undefined) await verifyDeb(checks, making, join(folder, 'deb'), gpu?.making);
  else checks.skip('the Debian package', why);
  await verifyOci(checks, await making.oci(join(folder, 'oci')), await making.oci(join(folder, 'oci-again')), folder);
  if (gpu === undefined) return checks.skip('svc-cuda', `${making.build} has no stand-in for a GPU: its native tests build it`);
  await checks.try(
    `svc-cuda: is laid out, ${gpu.isReal ? 'with the library of the cuda preset' : 'with a stand-in for the backend library'}`,
    () => gpu.making.layOut().then(() => undefined),
  );
  const file = await gpu.making.rpm(join(folder, 'gpu'), { isQuick: gpu.isReal });
  await verifyGpu(checks, { ...gpu, file }, new ScratchRoot(join(folder, 'gpu-root'), making.flavour), rpms[0]);
}

/** The library of the cuda preset where it is built, else what stands in for it; undefined: neither is. */
function gpuPackage(making: Making, source: string): { making: Making; isReal: boolean; driver: string | undefined } | undefined {
  const options = { source, flavour: findFlavour('cuda', 'x86_64'), version: making.version };
  const standIn = findStandIn(making.build);
  const real = new Making(options);
  if (real.whyNot() === undefined) return { making: real, isReal: true, driver: standIn?.driver };
  return standIn && { making: new Making({ ...options, gpuLibrary: standIn.library }), isReal: false, driver: standIn.driver };
}

/** Installs the Debian package on this machine, runs it as its own user, upgrades it, and removes it with the data kept, then purged. */
import { appendFileSync, existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Making } from '../making.ts';
import { runTool } from '../run-tool.ts';
import { gpuLibrary } from '../tree/gpu-tree.ts';
import { layout } from '../tree/layout.ts';
import { type Checks, expect } from './checks.ts';
import { InstalledServer } from './installed-server.ts';
import { UPGRADE_STREAMS, upgradeUnderLoad } from './upgrade-under-load.ts';

const dpkg = (...args: string[]) => runTool('dpkg', args, { debianPackage: 'dpkg' });
/** The README's command, without asking. */
const install = (file: string) =>
  runTool('apt-get', ['install', '-y', '--no-install-recommends', file], {
    env: { DEBIAN_FRONTEND: 'noninteractive' },
    debianPackage: 'apt',
  });

/** Why it cannot be tried here; undefined: it can. */
export async function whyNoDeb(): Promise<string | undefined> {
  if (!existsSync('/etc/debian_version')) return 'this is no Debian';
  if (process.getuid?.() !== 0) return 'installing takes root';
  const isThere = await dpkg('-s', 'svc').then(
    (text) => text.includes('ok installed'),
    () => false,
  );
  if (isThere || existsSync('/var/lib/svc/svc.db')) return 'svc is installed here already, or its data is there';
  return undefined;
}

/** Beside svc, on a machine whose driver is not looked at: the package asks for it by name. */
async function verifyGpuDeb(checks: Checks, gpu: Making, folder: string): Promise<void> {
  await checks.try('deb svc-cuda: installs beside svc, is named by svc doctor, and goes again', async () => {
    await gpu.layOut();
    const file = await gpu.deb(folder);
    const depends = await runTool('dpkg-deb', ['-f', file, 'Depends'], { debianPackage: 'dpkg' });
    expect(/svc-engine \(= .+\), libcuda1 \| libcuda\.so\.1/.test(depends), depends);
    await dpkg('--force-depends', '-i', file);
    const said = await runTool('svc', ['doctor'], { debianPackage: 'svc' }).catch((error: Error) => error.message);
    expect(said.includes(`${gpuLibrary} is not used`) || said.includes('CUDA0'), said);
    await dpkg('-r', 'svc-cuda');
    expect(
      !existsSync(`/${layout.native}/${gpuLibrary}`) && existsSync('/usr/bin/svc'),
      'the library is still there, or svc is not',
    );
    return `${(statSync(file).size / 1e6).toFixed(1)} MB`;
  });
}

/** Packages are made below `folder`. */
export async function verifyDeb(checks: Checks, making: Making, folder: string, gpu: Making | undefined): Promise<void> {
  const file = await making.deb(folder);
  await checks.try('deb: two builds of one tree are the same bytes', async () => {
    expect(readFileSync(file).equals(readFileSync(await making.deb(join(folder, 'again')))), 'they differ');
    return `${(statSync(file).size / 1e6).toFixed(1)} MB`;
  });
  await checks.try('deb: installs, with its user and folders', async () => {
    await install(file);
    const [user, owner] = await Promise.all([
      runTool('getent', ['passwd', 'svc'], { debianPackage: 'libc-bin' }),
      runTool('stat', ['-c', '%U %a', '/var/lib/svc'], { debianPackage: 'coreutils' }),
    ]);
    expect(user.includes('/var/lib/svc'), user);
    expect(owner.trim() === 'svc 750', owner);
    return undefined;
  });
  await checks.try('deb: svc version is that of the package', async () =>
    (await runTool('svc', ['version'], { debianPackage: 'svc' })).trim(),
  );
  const asUser = ['setpriv', '--reuid', 'svc', '--regid', 'svc', '--clear-groups', '--no-new-privs', '--bounding-set', '-all'];
  const env = { PATH: '/usr/bin:/bin', HOME: '/var/lib/svc' };
  let server: InstalledServer | undefined;
  await checks.try("deb: the server answers the README's curl, a chat and an embedding as its user", async () => {
    server = await InstalledServer.start({ command: [...asUser, 'svc'], env });
    await server.expectFirstToken();
    await server.expectAnswers();
    return undefined;
  });
  await server?.stop();
  if (gpu !== undefined) await verifyGpuDeb(checks, gpu, folder);
  await checks.try(`deb: an upgrade under ${UPGRADE_STREAMS} streams fails no request`, async () => {
    appendFileSync(`/${layout.config}`, '\n# a line of the operator\n');
    const newer = await making.deb(join(folder, 'newer'), '2');
    const command = [...asUser, 'svc', 'serve'];
    const said = await upgradeUnderLoad({ command, env, install: async () => void (await install(newer)) });
    expect((await dpkg('-s', 'svc')).includes('-2\n'), 'the higher version is not installed');
    expect(readFileSync(`/${layout.config}`, 'utf8').includes('a line of the operator'), 'the configuration was replaced');
    return said;
  });
  await checks.try('deb: a removal keeps the data, a purge does not', async () => {
    await dpkg('-r', 'svc');
    expect(!existsSync('/usr/bin/svc'), 'svc is still there');
    expect(existsSync('/var/lib/svc/svc.db'), 'the database is gone');
    await dpkg('-P', 'svc');
    expect(!existsSync('/var/lib/svc'), 'the data is still there');
    return undefined;
  });
}

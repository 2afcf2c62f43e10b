/** A repository that dnf reads, of the RPMs that were made: a folder for a web server. */
import { copyFileSync, existsSync, globSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { runTool } from '../run-tool.ts';
import { signFile } from '../signing/sign.ts';
import { publicKey, type SigningKey } from '../signing/signing-key.ts';

interface RepositoryOptions {
  /** Folder with the RPMs. */
  packages: string;
  /** Emptied first. */
  destination: string;
  /** Where it will be served. */
  baseUrl: string;
  key: SigningKey | undefined;
  sourceDateEpoch: number;
}

/** A folder for each architecture with its metadata, svc.repo, and the public key where there is one. Resolves to the folder. */
export async function buildRepository({
  packages,
  destination,
  baseUrl,
  key,
  sourceDateEpoch,
}: RepositoryOptions): Promise<string> {
  if (!/^https:\/\/[^\s]+$/.test(baseUrl))
    throw new Error(`--base-url is "${baseUrl}": give the https address of the repository`);
  const files = globSync('*.rpm', { cwd: packages }).sort();
  if (files.length === 0) throw new Error(`${packages} has no RPM: npm run package -- rpm`);
  rmSync(destination, { recursive: true, force: true });
  for (const file of files) {
    const folder = join(destination, archOf(file));
    mkdirSync(folder, { recursive: true });
    copyFileSync(join(packages, file), join(folder, file));
    // The metadata have the times of files.
    utimesSync(join(folder, file), sourceDateEpoch, sourceDateEpoch);
  }
  for (const folder of globSync('*', { cwd: destination }).map((name) => join(destination, name))) {
    const times = ['--revision', String(sourceDateEpoch), '--set-timestamp-to-revision'];
    await runTool('createrepo_c', [...times, '--quiet', folder], { debianPackage: 'createrepo-c' });
    if (key) await signFile(join(folder, 'repodata/repomd.xml'), key);
  }
  if (key) writeFileSync(join(destination, 'svc.asc'), await publicKey(key));
  writeFileSync(join(destination, 'svc.repo'), repoFile(baseUrl.replace(/\/+$/, ''), existsSync(join(destination, 'svc.asc'))));
  return destination;
}

const archOf = (file: string) => basename(file, '.rpm').split('.').at(-1) ?? '';

/** For /etc/yum.repos.d. */
export function repoFile(baseUrl: string, isSigned: boolean): string {
  const check = isSigned ? 1 : 0;
  return `[svc]
name=svc, a self-hosted AI platform
baseurl=${baseUrl}/$basearch/
enabled=1
gpgcheck=${check}
repo_gpgcheck=${check}
${isSigned ? `gpgkey=${baseUrl}/svc.asc\n` : ''}`;
}

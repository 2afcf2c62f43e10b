/** Signs packages and a repository with a key that is made for it, and reads the signatures with the public key alone. */
import { appendFileSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { buildRepository } from '../repository/build-repository.ts';
import { runTool } from '../run-tool.ts';
import { signRpm } from '../signing/sign.ts';
import { gpg, publicKey, type SigningKey } from '../signing/signing-key.ts';
import { type Checks, expect } from './checks.ts';

export async function verifySigning(
  checks: Checks,
  files: readonly string[],
  folder: string,
  sourceDateEpoch: number,
): Promise<void> {
  // A socket of gpg-agent lies in it, whose path must be short.
  const home = mkdtempSync(join(tmpdir(), 'svc-key-'));
  const packages = join(folder, 'signed');
  mkdirSync(packages, { recursive: true });
  const signed = files.map((file) => join(packages, basename(file)));
  const key: SigningKey = { name: 'packages@svc.invalid', home };
  const keyFile = join(folder, 'svc.asc');
  try {
    await checks.try('signing: a key signs packages, and only who has its public half trusts them', async () => {
      await gpg(key, '--passphrase', '', '--quick-generate-key', `svc packagers <${key.name}>`, 'rsa3072', 'sign', '1d');
      appendFileSync(keyFile, await publicKey(key));
      for (const [i, file] of files.entries()) {
        copyFileSync(file, signed[i] ?? '');
        await signRpm(signed[i] ?? '', key);
      }
      const said = await checkSignature(folder, signed[0] ?? '', keyFile);
      expect(/signatures OK/.test(said), said);
      const strangers = await checkSignature(folder, signed[0] ?? '').catch((error: Error) => error.message);
      expect(/NOT OK|NOKEY/.test(strangers), strangers);
      return undefined;
    });
    await checks.try('signing: a byte that was changed shows', async () => {
      const broken = join(folder, 'broken.rpm');
      const bytes = readFileSync(signed[0] ?? '');
      bytes.writeUInt8(bytes.readUInt8(bytes.length - 1000) ^ 1, bytes.length - 1000);
      rmSync(broken, { force: true });
      appendFileSync(broken, bytes);
      const said = await checkSignature(folder, broken, keyFile).catch((error: Error) => error.message);
      expect(/NOT OK|BAD/.test(said), said);
      return undefined;
    });
    await checks.try('repository: metadata of all packages, signed, with a .repo file', async () => {
      const destination = join(folder, 'repository');
      const baseUrl = 'https://packages.example/svc/';
      await buildRepository({ packages, destination, baseUrl, key, sourceDateEpoch });
      const arch = signed[0]?.split('.').at(-2) ?? '';
      const repomd = join(destination, arch, 'repodata/repomd.xml');
      await gpg({ home }, '--verify', `${repomd}.asc`, repomd);
      const repo = readFileSync(join(destination, 'svc.repo'), 'utf8');
      expect(repo.includes('baseurl=https://packages.example/svc/$basearch/\n') && repo.includes('repo_gpgcheck=1\n'), repo);
      const first = readFileSync(repomd);
      await buildRepository({ packages, destination, baseUrl, key, sourceDateEpoch });
      expect(readFileSync(repomd).equals(first), 'the same packages give other metadata');
      return `${signed.length} packages`;
    });
  } finally {
    await runTool('gpgconf', ['--homedir', home, '--kill', 'all'], { debianPackage: 'gnupg' }).catch(() => undefined);
    rmSync(home, { recursive: true, force: true });
  }
}

/** Against a database of keys that has this one alone, or none. */
async function checkSignature(folder: string, file: string, keyFile?: string): Promise<string> {
  const database = mkdtempSync(join(folder, 'keys-'));
  const rpmkeys = (...args: string[]) =>
    runTool('rpmkeys', ['--dbpath', database, ...args], { debianPackage: 'rpm', env: { LC_ALL: 'C' } });
  if (keyFile !== undefined) await rpmkeys('--import', keyFile);
  return await rpmkeys('--checksig', file);
}

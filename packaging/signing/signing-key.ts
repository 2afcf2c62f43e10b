/** The key that packages and repository metadata are signed with: one of a GnuPG home. */
import { runTool } from '../run-tool.ts';

export interface SigningKey {
  /** Fingerprint, or another name by which GnuPG finds one secret key. */
  name: string;
  /** GnuPG's folder; undefined: the user's own. */
  home: string | undefined;
}

/** SVC_SIGNING_KEY names the key, SVC_SIGNING_HOME the folder. Undefined: packages stay unsigned. */
export function findSigningKey(env: NodeJS.ProcessEnv = process.env): SigningKey | undefined {
  const name = env['SVC_SIGNING_KEY'];
  if (name === undefined || name === '') return undefined;
  // It becomes part of rpm's macros.
  if (!/^[\w .@<>+-]{1,200}$/.test(name))
    throw new Error('SVC_SIGNING_KEY has characters that no name of a key has: give its fingerprint');
  return { name, home: env['SVC_SIGNING_HOME'] || undefined };
}

/** Runs gpg as a program that nobody watches; a passphrase comes from gpg-agent. */
export function gpg({ home }: Pick<SigningKey, 'home'>, ...args: string[]): Promise<string> {
  const folder = home === undefined ? [] : ['--homedir', home];
  return runTool('gpg', [...folder, '--batch', '--no-tty', ...args], { debianPackage: 'gnupg' });
}

/** The public key, as rpm imports it. */
export async function publicKey(key: SigningKey): Promise<string> {
  const text = await gpg(key, '--armor', '--export', key.name);
  if (!text.includes('BEGIN PGP PUBLIC KEY')) throw new Error(`GnuPG has no key ${key.name}: SVC_SIGNING_HOME names its folder`);
  return text;
}

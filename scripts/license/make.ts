/**
 * For whoever issues licenses.
 *
 *   node scripts/license/make.ts key FILE                 makes a key pair: FILE (mode 0600) holds the private key, and the public one is
 *                                                         printed as a line for ts/server/domains/license/public-keys.ts
 *   node scripts/license/make.ts sign FILE KEY-ID TERMS   prints a license with the terms in the JSON file TERMS
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { publicKeysOf } from '../../ts/server/domains/license/public-keys.ts';
import { inspectLicense } from '../../ts/server/domains/license/signed-license.ts';
import { signLicense } from './sign-license.ts';

const [action, file = '', keyId = '', termsFile = ''] = process.argv.slice(2);

function makeKey(): void {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600, flag: 'wx' });
  console.log(`'KEY-ID': '${publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}',`);
}

function printLicense(): void {
  const privateKey = createPrivateKey(readFileSync(file));
  const license = signLicense(JSON.parse(readFileSync(termsFile, 'utf8')) as object, { id: keyId, privateKey });
  const spki = createPublicKey(privateKey).export({ type: 'spki', format: 'der' }).toString('base64');
  const inspected = inspectLicense(JSON.stringify(license), publicKeysOf({ [keyId]: spki }));
  if ('fault' in inspected) throw new Error(`these are no terms of a license: ${inspected.fault.detail}`);
  console.log(JSON.stringify(license, undefined, 2));
}

if (action === 'key' && file !== '') makeKey();
else if (action === 'sign' && termsFile !== '') printLicense();
else {
  console.error('usage: node scripts/license/make.ts key FILE | sign FILE KEY-ID TERMS');
  process.exitCode = 2;
}

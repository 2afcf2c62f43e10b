/** For tests: the license module over a real database and real sockets, with a key and a clock of the test. */
import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import type { Test } from 'tap';
import { signLicense } from '../../../../../scripts/license/sign-license.ts';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import type { Module } from '../../../platform/module/module.ts';
import type { ModuleContext } from '../../../platform/module/module-context.ts';
import { openModules } from '../../../platform/module/test-support/open-modules.ts';
import { license } from '../index.ts';
import { createLicense, type LicenseApi } from '../license-module.ts';
import type { LicenseTerms } from '../license-terms.ts';
import type { licenseSettings } from '../settings.ts';
import type { SignedLicense } from '../signed-license.ts';

export interface LicenseBed {
  module: Module<LicenseApi>;
  clock: { now: number };
  file: string;
  health(): Promise<Record<string, unknown>>;
  install(license: unknown): Promise<{ status: number; body: Record<string, unknown> }>;
}

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const testKeys = new Map([['test', publicKey]]);

const terms: LicenseTerms = {
  id: 'lic_1',
  licensee: 'Example GmbH',
  tier: 'team',
  features: ['rag', 'of-a-later-version'],
  installation: null,
  issued_at: '2026-01-01T00:00:00Z',
  valid_from: '2026-01-01T00:00:00Z',
  expires_at: '2027-01-01T00:00:00Z',
};

export function licenseWith(changes: Partial<Record<keyof LicenseTerms, unknown>> = {}, key = privateKey): SignedLicense {
  return signLicense({ ...terms, ...changes }, { id: 'test', privateKey: key });
}

export async function openLicense(
  t: Test,
  { folder = newFolder(t), databaseUrl }: { folder?: string; databaseUrl?: string } = {},
): Promise<LicenseBed> {
  const file = join(folder, 'license.json');
  const clock = { now: Date.now() };
  const create = (context: ModuleContext<typeof licenseSettings>) =>
    createLicense(context, { keys: testKeys, now: () => clock.now });
  const modules = await openModules(t, {
    modules: [{ ...license, create }],
    databaseUrl: databaseUrl ?? `sqlite:${join(folder, 'svc.db')}`,
    dataDir: folder,
    settings: { 'license.file': file },
  });
  return {
    module: modules.module(license),
    clock,
    file,
    health: async () => (await modules.send('GET', '/api/v1/license/health')).body,
    install: (body) => modules.send('PUT', '/api/v1/license', { body }),
  };
}

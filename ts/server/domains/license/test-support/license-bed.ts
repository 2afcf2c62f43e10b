/** For tests: the license module over a real database and real sockets, with a key and a clock of the test. */
import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import type { Test } from 'tap';
import { signLicense } from '../../../../../scripts/license/sign-license.ts';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import { openTestBed } from '../../../platform/http/test-support/test-bed.ts';
import type { Module } from '../../../platform/module/module.ts';
import { scriptedContext } from '../../../platform/module/test-support/scripted-context.ts';
import { createStorage } from '../../../platform/storage/index.ts';
import { createLicense, type LicenseApi } from '../license-module.ts';
import type { LicenseTerms } from '../license-terms.ts';
import { licenseMigrations } from '../migrations.ts';
import { licenseSettings } from '../settings.ts';
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
  const url = databaseUrl ?? `sqlite:${join(folder, 'svc.db')}`;
  const storage = createStorage({ url, modules: [{ module: 'license', migrations: licenseMigrations }] });
  await storage.open();
  const file = join(folder, 'license.json');
  const clock = { now: Date.now() };
  const context = scriptedContext({ spec: licenseSettings, settings: { 'license.file': file }, storage });
  const module = createLicense(context, { keys: testKeys, now: () => clock.now });
  await module.start();
  t.teardown(async () => {
    await module.stop();
    await storage.close();
  });
  const bed = await openTestBed(t, module.routes);
  const body = async (response: Response) => (await response.json()) as Record<string, unknown>;
  return {
    module,
    clock,
    file,
    health: async () => body(await fetch(`${bed.url}/api/v1/license/health`)),
    install: async (license) => {
      const init = { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(license) };
      const response = await fetch(`${bed.url}/api/v1/license`, init);
      return { status: response.status, body: await body(response) };
    },
  };
}

/** Installs an RPM into an empty root, runs it there, upgrades it and removes it. */
import { appendFileSync, existsSync, readFileSync, statSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import type { Flavour } from '../flavour.ts';
import { runTool } from '../run-tool.ts';
import { layout } from '../tree/layout.ts';
import { isSystemLibrary } from '../tree/needed-libraries.ts';
import { type Checks, expect } from './checks.ts';
import { InstalledServer } from './installed-server.ts';
import { ScratchRoot } from './scratch-root.ts';
import { verifyLiveUpgrade } from './verify-live-upgrade.ts';

interface RpmFiles {
  file: string;
  /** The same tree built a second time, and a higher version; undefined where an emulator would take minutes for what is the same. */
  others: { again: string; newer: string } | undefined;
}

const MOST_BYTES = 90e6;
const MOST_SECONDS_TO_TOKEN = 20;
const query = (file: string, ...args: string[]) => runTool('rpm', ['-qp', ...args, file], { debianPackage: 'rpm' });

export async function verifyRpm(checks: Checks, { file, others }: RpmFiles, flavour: Flavour, folder: string): Promise<void> {
  const what = `rpm ${flavour.packageName} ${flavour.arch}`;
  const root = new ScratchRoot(folder, flavour);
  if (others) {
    await checks.try(`${what}: two builds of one tree are the same bytes`, () => {
      expect(readFileSync(file).equals(readFileSync(others.again)), 'they differ');
      return undefined;
    });
  }
  await checks.try(`${what}: at most 90 MB`, () => {
    const { size } = statSync(file);
    expect(size <= MOST_BYTES, `it has ${size} bytes`);
    return `${(size / 1e6).toFixed(1)} MB`;
  });
  await checks.try(`${what}: it needs the C library, and what makes its user; it gives no library to others`, () =>
    expectPlainNeeds(file),
  );
  await checks.try(`${what}: the configuration is kept by upgrades`, async () => {
    expect((await query(file, '--configfiles')).includes(`/${layout.config}`), 'svc.toml is no configuration file');
    return undefined;
  });
  await checks.try(`${what}: what runs when it is installed asks nothing of the network`, async () => {
    const scripts = await query(file, '--scripts');
    const programs = [...scripts.matchAll(/\b(curl|wget|dnf|yum|rpm|apt-get|npm|node|git|ssh|scp|nc|https?:)/g)].map(
      ([word]) => word,
    );
    expect(scripts.includes('scriptlet') && programs.length === 0, `it calls ${programs.join(', ')}`);
    return undefined;
  });
  await verifyLint(checks, what, file);
  const began = performance.now();
  await checks.try(`${what}: installs into an empty root`, async () => {
    await root.install(file);
    expect(existsSync(root.path(layout.command)), 'there is no svc');
    return `${(Number((await query(file, '--queryformat', '%{LONGSIZE}')).trim()) / 1e6).toFixed(1)} MB installed`;
  });
  await verifyServing(checks, what, root, began);
  if (others) {
    await verifyUpgrade(checks, what, root, others.newer);
    await verifyLiveUpgrade(checks, { file, newer: others.newer, folder });
  }
  await checks.try(`${what}: a removal keeps the data`, async () => {
    await root.rpm('-e', '--nodeps', '--noscripts', flavour.packageName);
    expect(!existsSync(root.path(layout.command)), 'svc is still there');
    expect(existsSync(root.path('var/lib/svc/svc.db')), 'the database is gone');
    return undefined;
  });
}

async function verifyUpgrade(checks: Checks, what: string, root: ScratchRoot, newer: string): Promise<void> {
  const config = root.path(layout.config);
  if (existsSync(config)) appendFileSync(config, '\n# a line of the operator\n');
  await checks.try(`${what}: an upgrade keeps the configuration and the data`, async () => {
    await root.install(newer);
    expect(readFileSync(config, 'utf8').includes('a line of the operator'), 'the configuration was replaced');
    expect(existsSync(root.path('var/lib/svc/svc.db')), 'the database is gone');
    return (await root.rpm('-qa')).trim();
  });
  await verifyServing(checks, `${what}, upgraded`, root);
}

/** Whoever resolves dependencies must find every one of them in the system's own repositories. */
export async function expectPlainNeeds(file: string, others: readonly string[] = []): Promise<string> {
  const needs = (await query(file, '--requires')).trim().split('\n');
  const odd = needs.filter((need) => !isPlain(need.trim(), others));
  expect(odd.length === 0, `it needs ${odd.join(', ')}`);
  const given = (await query(file, '--provides')).trim().split('\n');
  expect(!given.some((each) => /\.so/.test(each)), `it gives ${given.join(', ')}`);
  return [...new Set(needs.map((need) => need.replace(/[(].*/, '').trim()))]
    .filter((need) => !need.startsWith('rpmlib'))
    .join(', ');
}

function isPlain(need: string, others: readonly string[]): boolean {
  const [name = ''] = need.split(/[(\s]/);
  const isTool = ['rpmlib', 'config', 'rtld', 'shadow-utils', '/bin/sh'].includes(name);
  return isTool || isSystemLibrary(name) || others.includes(need);
}

export async function verifyLint(checks: Checks, what: string, file: string): Promise<void> {
  await checks.try(`${what}: rpmlint finds nothing`, async () => {
    const rules = join(import.meta.dirname, '../rpm/rpmlint.toml');
    const said = await runTool('rpmlint', ['--config', rules, file], { debianPackage: 'rpmlint' });
    return said.trim().split('\n').at(-1)?.replaceAll('=', '').trim();
  });
}

/** `installing`: when the installation of the package began, by performance.now(). */
async function verifyServing(checks: Checks, what: string, root: ScratchRoot, installing?: number): Promise<void> {
  const why = root.whyNotRun();
  if (why !== undefined) return checks.skip(`${what}: the server answers`, why);
  let server: InstalledServer | undefined;
  const began = performance.now();
  await checks.try(`${what}: the server answers the README's curl, a chat and an embedding`, async () => {
    server = await InstalledServer.start(await root.program());
    const readyMs = Math.round(performance.now() - began);
    await server.expectFirstToken();
    const tokenSeconds = (performance.now() - (installing ?? began)) / 1000;
    await server.expectAnswers();
    if (installing === undefined) return `ready after ${readyMs} ms`;
    const token = `from package file to first streamed token ${tokenSeconds.toFixed(1)} s`;
    // Neither an emulator nor a machine whose CPUs others want is a measure.
    const waiting = loadavg()[0] ?? 0;
    if (root.isForeign || waiting > 2 * availableParallelism())
      return `${token}, not judged: emulated, or a load of ${waiting.toFixed(0)}`;
    expect(tokenSeconds <= MOST_SECONDS_TO_TOKEN, token);
    return `ready after ${readyMs} ms; ${token}`;
  });
  const running = server as InstalledServer | undefined;
  if (running !== undefined && !root.isForeign)
    await checks.try(`${what}: a backup folder that the unit does not name is refused, with the drop-in that admits it`, () =>
      running.expectRefusedDestination().then(() => undefined),
    );
  await running?.stop();
  if (!root.isForeign) await checks.try(`${what}: which restrictions of its unit it was under`, () => root.describeLimits());
}

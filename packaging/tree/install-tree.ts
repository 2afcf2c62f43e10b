/** Lays out an installed svc below a folder: what every kind of package holds. */
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeCodeCaches } from '../bundle/code-caches.ts';
import { writeCompletions } from '../docs/completions.ts';
import { writeManPages } from '../docs/man-pages.ts';
import { emulate } from '../emulation/emulator.ts';
import type { Flavour } from '../flavour.ts';
import { copyFile, writeFile } from './copy-file.ts';
import { isForFlavour } from './flavour-variants.ts';
import { placeIn } from './layout.ts';
import { nativeFiles } from './native-files.ts';
import { packagedConfig } from './packaged-config.ts';
import { writeProgramFiles } from './program-files.ts';
import { stripSymbols } from './strip-symbols.ts';

export interface TreeOptions {
  /** The checkout. */
  source: string;
  /** Emptied first. */
  destination: string;
  flavour: Flavour;
  version: string;
  /** Folder of the addons and the libraries that they load. */
  nativeFolder: string;
  /** Seconds since 1970 that stand for the time of the build, so that two builds are the same. */
  sourceDateEpoch: number;
}

export async function writeTree(options: TreeOptions): Promise<void> {
  const { source, destination, flavour, nativeFolder } = options;
  rmSync(destination, { recursive: true, force: true });
  await writeProgramFiles(options);
  const built = nativeFiles({ source, folder: nativeFolder, platform: flavour.target.platform });
  for (const file of built.filter((name) => isForFlavour(flavour, name)))
    copyFile(join(nativeFolder, file), placeIn(destination, 'native', file), 0o755);
  for (const model of globSync(['models/*/*.{gguf,dat}', 'models/*/LICENSE'], { cwd: source }))
    copyFile(join(source, model), placeIn(destination, 'models', model.replace('models/', '')));
  if (flavour.name === 'minimal') await stripSymbols(destination, flavour);
  if (flavour.hasPages) writePages(source, destination);
  writeSystemFiles(source, destination);
  await writeManPages(destination, options);
  await writeCompletions(destination);
  await writeCaches(destination, flavour);
}

/** By the Node that will read them. */
async function writeCaches(destination: string, { target }: Flavour): Promise<void> {
  const dist = placeIn(destination, 'dist');
  if (target.platform !== process.platform)
    throw new Error('the macOS package is laid out on a Mac, whose Node compiles its code caches');
  if (target.arch === process.arch) return await writeCodeCaches(dist, [placeIn(destination, 'node')]);
  const parts = mkdtempSync(join(tmpdir(), 'svc-emulation-'));
  try {
    const { command, env } = await emulate(destination, parts);
    await writeCodeCaches(dist, command, env);
  } finally {
    rmSync(parts, { recursive: true, force: true });
  }
}

function writePages(source: string, destination: string): void {
  const built = join(source, 'build/web');
  const files = globSync('**/*.*', { cwd: built });
  if (!files.includes('chat.html')) throw new Error('the pages are not built: node scripts/build.mjs --web');
  for (const file of files) copyFile(join(built, file), placeIn(destination, 'web', file));
}

function writeSystemFiles(source: string, destination: string): void {
  const system = (name: string) => join(source, 'packaging/system', name);
  const hardening = readFileSync(system('hardening.conf'), 'utf8').trimEnd();
  for (const unit of [
    'svc.service',
    'svc@.service',
    'svc.socket',
    'svc-public.socket',
    'svc-rsyslog.service',
    'svc-rsyslog.path',
  ])
    writeFile(placeIn(destination, 'units', unit), readFileSync(system(unit), 'utf8').replace('@HARDENING@', hardening));
  copyFile(system('svc.sysusers.conf'), placeIn(destination, 'sysusers'));
  copyFile(system('svc.tmpfiles.conf'), placeIn(destination, 'tmpfiles'));
  copyFile(system('svc.firewalld.xml'), placeIn(destination, 'firewall'));
  copyFile(system('gpu.conf'), placeIn(destination, 'docs', 'gpu.conf'));
  copyFile(system('svc.sh'), placeIn(destination, 'command'), 0o755);
  copyFile(join(source, 'LICENSE'), placeIn(destination, 'licenses', 'LICENSE'));
  const pages = ['README.md', 'CHANGELOG.md', 'SECURITY.md', ...globSync('docs/**/*.{md,png}', { cwd: source })];
  for (const page of pages) copyFile(join(source, page), placeIn(destination, 'docs', page));
  writeFile(placeIn(destination, 'config'), packagedConfig(), 0o640);
  mkdirSync(placeIn(destination, 'credentials'), { recursive: true, mode: 0o700 });
  const readme = readFileSync(system('conf.d.README'), 'utf8');
  writeFile(placeIn(destination, 'configAdditions', 'README'), readme);
}

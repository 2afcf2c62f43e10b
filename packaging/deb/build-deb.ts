/** Makes a Debian package of the same tree. */
import { chmodSync, cpSync, globSync, mkdirSync, mkdtempSync, rmSync, statSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readPins } from '../../scripts/setup/sources.mjs';
import type { Flavour } from '../flavour.ts';
import { runTool } from '../run-tool.ts';
import { copyFile, writeFile } from '../tree/copy-file.ts';
import { layout } from '../tree/layout.ts';

interface DebOptions {
  flavour: Flavour;
  tree: string;
  version: string;
  /** The package's own revision; undefined: it is the first. */
  revision?: string | undefined;
  outFolder: string;
  sourceDateEpoch: number;
}

const ownScripts = { postinst: 'postinst', prerm: 'prerm', postrm: 'postrm' };
/** Installed, upgraded or removed: the server looks for devices when it starts. */
const gpuScripts = { postinst: 'gpu-changed', postrm: 'gpu-changed' };

/** Resolves to the path of the package. */
export async function buildDeb({ flavour, tree, revision, outFolder, sourceDateEpoch, ...options }: DebOptions): Promise<string> {
  const version = revision === undefined ? options.version : `${options.version}-${revision}`;
  const root = mkdtempSync(join(tmpdir(), 'svc-deb-'));
  try {
    chmodSync(root, 0o755);
    cpSync(tree, root, { recursive: true });
    writeFile(join(root, 'DEBIAN/control'), control(flavour, version, sizeKiB(root)));
    if (flavour.hasServer) writeFile(join(root, 'DEBIAN/conffiles'), `/${layout.config}\n`);
    for (const [script, source] of Object.entries(flavour.hasServer ? ownScripts : gpuScripts))
      copyFile(join(import.meta.dirname, source), join(root, 'DEBIAN', script), 0o755);
    for (const path of ['', ...globSync('**/*', { cwd: root })]) utimesSync(join(root, path), sourceDateEpoch, sourceDateEpoch);
    mkdirSync(outFolder, { recursive: true });
    const file = join(outFolder, `${flavour.packageName}_${version}_${flavour.debArch}.deb`);
    const env = { SOURCE_DATE_EPOCH: String(sourceDateEpoch) };
    await runTool('dpkg-deb', ['--root-owner-group', '-Zzstd', '-z9', '--build', root, file], { env, debianPackage: 'dpkg' });
    return file;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function sizeKiB(root: string): number {
  const files = globSync('**/*', { cwd: root }).map((path) => statSync(join(root, path)));
  return Math.ceil(files.reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0) / 1024);
}

/** The HTTP library for ARM64 asks for a newer C library than the rest; see package-finder.ts. */
const oldestGlibc = { amd64: '2.36', arm64: '2.38' };

/** The text of DEBIAN/control. */
export function control(flavour: Flavour, version: string, installedKiB: number): string {
  const { packageName, debArch } = flavour;
  const engine = `svc-engine (= ${readPins()['llama.cpp']?.version ?? ''})`;
  const head = `Package: ${packageName}
Version: ${version}
Architecture: ${debArch}
Maintainer: svc packagers <packages@svc.invalid>
Installed-Size: ${installedKiB}
`;
  // Any svc whose engine is compiled from the same sources, of whatever patch version.
  if (!flavour.hasServer)
    return `${head}Depends: ${engine}, libcuda1 | libcuda.so.1, libc6 (>= ${oldestGlibc[debArch]}), libstdc++6 (>= 12)
Section: net
Priority: optional
Description: NVIDIA GPUs for svc, a self-hosted AI platform
 The backend library with which svc computes local models on NVIDIA GPUs, and
 the libraries of CUDA that it needs. A machine without a GPU goes on with its
 CPU, and svc says so. It needs NVIDIA's driver.
`;
  // A package is not in conflict with itself.
  const inPlace = packageName === 'svc' ? `Provides: ${engine}\n` : `Conflicts: svc\nProvides: svc (= ${version}), ${engine}\n`;
  return `${head}Depends: libc6 (>= ${oldestGlibc[debArch]}), libstdc++6 (>= 12), libgomp1, adduser
Recommends: ca-certificates, ffmpeg, openssh-client
Suggests: espeak-ng, libflite1, rsyslog, rsyslog-openssl, rsyslog-relp
${inPlace}Section: net
Priority: optional
Description: Self-hosted AI platform with local GGUF models
 An OpenAI-style and a native API, knowledge bases, conversations and an admin
 console over local GGUF models, on one machine or several. The demonstration
 models that come with it answer without a download.
`;
}

/** Reads an image layout as an engine would, by its digests, unpacks it and runs what it says, with nothing of this machine below it. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { findProgram } from '../../scripts/setup/tools.mjs';
import type { imageConfig } from '../oci/image-config.ts';
import { runTool } from '../run-tool.ts';
import { type Checks, expect } from './checks.ts';
import { InstalledServer } from './installed-server.ts';

interface Descriptor {
  digest: string;
  size: number;
}

export async function verifyOci(checks: Checks, file: string, again: string, folder: string): Promise<void> {
  const [image, root, data] = ['image', 'root', 'data'].map((name) => join(folder, name)) as [string, string, string];
  for (const each of [image, root, data]) mkdirSync(each, { recursive: true });
  let config: ReturnType<typeof imageConfig> | undefined;
  await checks.try('oci: two builds of one tree are the same bytes', () => {
    expect(readFileSync(file).equals(readFileSync(again)), 'they differ');
    return undefined;
  });
  await checks.try('oci: every part has the size and the digest that is said of it', async () => {
    await runTool('tar', ['-xf', file, '-C', image], { debianPackage: 'tar' });
    expect(JSON.parse(readFileSync(join(image, 'oci-layout'), 'utf8')).imageLayoutVersion === '1.0.0', 'it is no layout 1.0.0');
    const index = JSON.parse(readFileSync(join(image, 'index.json'), 'utf8')) as { manifests: [Descriptor] };
    const manifest = JSON.parse(readBlob(image, index.manifests[0]).toString()) as { config: Descriptor; layers: [Descriptor] };
    config = JSON.parse(readBlob(image, manifest.config).toString()) as ReturnType<typeof imageConfig>;
    const layer = readBlob(image, manifest.layers[0]);
    expect(digestOf(gunzipSync(layer)) === config.rootfs.diff_ids[0], 'the layer is another one than the configuration names');
    await runTool('tar', ['-xzf', join(image, pathOf(manifest.layers[0])), '-C', root], { debianPackage: 'tar' });
    return `${(manifest.layers[0].size / 1e6).toFixed(1)} MB`;
  });
  if (findProgram('bwrap') === undefined) return checks.skip('oci: the server answers', 'bubblewrap is not installed');
  let server: InstalledServer | undefined;
  await checks.try('oci: the server answers a chat and an embedding from a root that is read-only', async () => {
    const { User = '', Entrypoint = [], Env = [], WorkingDir = '/' } = config?.config ?? {};
    const [user = '', group = ''] = User.split(':');
    const mounts = [
      '--ro-bind',
      root,
      '/',
      '--bind',
      data,
      '/var/lib/svc',
      '--tmpfs',
      '/tmp',
      '--proc',
      '/proc',
      '--dev',
      '/dev',
    ];
    const limits = ['--unshare-user', '--unshare-pid', '--uid', user, '--gid', group, '--cap-drop', 'ALL', '--die-with-parent'];
    const command = ['bwrap', ...mounts, ...limits, '--chdir', WorkingDir, '--', ...Entrypoint];
    server = await InstalledServer.start({
      command,
      env: Object.fromEntries(Env.map((line) => line.split('=') as [string, string])),
    });
    await server.expectAnswers();
    return undefined;
  });
  await server?.stop();
}

function readBlob(image: string, descriptor: Descriptor): Buffer {
  const bytes = readFileSync(join(image, pathOf(descriptor)));
  expect(bytes.length === descriptor.size, `${descriptor.digest} has ${bytes.length} bytes, not ${descriptor.size}`);
  expect(digestOf(bytes) === descriptor.digest, `${descriptor.digest} has another content`);
  return bytes;
}

const pathOf = ({ digest }: Descriptor) => join('blobs', digest.replace(':', '/'));
const digestOf = (bytes: Buffer) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/** An image as a plain tarball of the OCI image layout (opencontainers/image-spec v1.1): no daemon makes it, every engine loads it. */
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Flavour } from '../flavour.ts';
import { runTool } from '../run-tool.ts';
import { writeFile } from '../tree/copy-file.ts';
import { placeIn } from '../tree/layout.ts';
import { imageConfig, imageUser, mediaTypes } from './image-config.ts';
import { copySystemLibraries } from './system-libraries.ts';

interface OciOptions {
  flavour: Flavour;
  tree: string;
  version: string;
  outFolder: string;
  sourceDateEpoch: number;
}

interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
}

/** Resolves to the path of the tarball. Same tree and same system libraries, same bytes. */
export async function buildOci(options: OciOptions): Promise<string> {
  const { flavour, version, outFolder, sourceDateEpoch } = options;
  const work = mkdtempSync(join(tmpdir(), 'svc-oci-'));
  try {
    const tar = await layerTar(options, join(work, 'root'), join(work, 'layer.tar'));
    const image = join(work, 'image');
    const layer = blob(image, mediaTypes.layer, gzipSync(tar, { level: 6 }));
    const created = new Date(sourceDateEpoch * 1000).toISOString();
    const config = imageConfig({ flavour, version, created, diffId: digestOf(tar) });
    const configBlob = blob(image, mediaTypes.config, json(config));
    const manifest = { schemaVersion: 2, mediaType: mediaTypes.manifest, config: configBlob, layers: [layer] };
    const reference = { 'org.opencontainers.image.ref.name': version };
    const platform = { architecture: config.architecture, os: config.os };
    const manifests = [{ ...blob(image, mediaTypes.manifest, json(manifest)), platform, annotations: reference }];
    writeFile(join(image, 'index.json'), json({ schemaVersion: 2, mediaType: mediaTypes.index, manifests }));
    writeFile(join(image, 'oci-layout'), json({ imageLayoutVersion: '1.0.0' }));
    mkdirSync(outFolder, { recursive: true });
    const file = join(outFolder, `${flavour.packageName}-${version}-${flavour.arch}.oci.tar`);
    await pack(file, image, sourceDateEpoch);
    return file;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The tree with what it lacks in an image, as one layer. */
async function layerTar({ flavour, tree, sourceDateEpoch }: OciOptions, root: string, file: string): Promise<Buffer> {
  mkdirSync(root, { recursive: true });
  cpSync(tree, root, { recursive: true });
  await copySystemLibraries(root, flavour);
  for (const folder of ['var/lib/svc', 'var/cache/svc', 'tmp']) mkdirSync(join(root, folder), { recursive: true });
  chmodSync(join(root, 'tmp'), 0o1777);
  // There is no service manager that would read it as root.
  chmodSync(placeIn(root, 'config'), 0o644);
  writeFile(
    join(root, 'etc/passwd'),
    `root:x:0:0:root:/root:/sbin/nologin\nsvc:x:${imageUser}:${imageUser}:svc:/var/lib/svc:/sbin/nologin\n`,
  );
  writeFile(join(root, 'etc/group'), `root:x:0:\nsvc:x:${imageUser}:\n`);
  const own = ['./var/lib/svc', './var/cache/svc'];
  await pack(
    file,
    root,
    sourceDateEpoch,
    own.map((path) => `--exclude=${path}`),
  );
  const owner = [`--owner=${imageUser}`, `--group=${imageUser}`];
  await tar(['--append', `--file=${file}`, `--directory=${root}`, ...reproducible(sourceDateEpoch), ...owner, ...own]);
  return readFileSync(file);
}

const tar = (args: readonly string[]) => runTool('tar', args, { debianPackage: 'tar', env: { LC_ALL: 'C' } });
const reproducible = (epoch: number) => ['--format=gnu', '--sort=name', '--numeric-owner', `--mtime=@${epoch}`];

async function pack(file: string, folder: string, epoch: number, more: readonly string[] = []): Promise<void> {
  const owner = ['--owner=0', '--group=0'];
  await tar(['--create', `--file=${file}`, `--directory=${folder}`, ...reproducible(epoch), ...owner, ...more, '.']);
}

function blob(image: string, mediaType: string, bytes: Buffer): Descriptor {
  const digest = digestOf(bytes);
  writeFile(join(image, 'blobs', digest.replace(':', '/')), bytes);
  return { mediaType, digest, size: bytes.length };
}

const digestOf = (bytes: Buffer) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
const json = (value: unknown) => Buffer.from(`${JSON.stringify(value)}\n`);

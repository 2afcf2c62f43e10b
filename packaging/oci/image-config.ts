/** What an engine has to know of the image. */
import type { Flavour } from '../flavour.ts';
import { layout } from '../tree/layout.ts';

/** User and group of the server; no system has such a user of its own. */
export const imageUser = 10001;

const oci = 'application/vnd.oci.image';
export const mediaTypes = {
  index: `${oci}.index.v1+json`,
  manifest: `${oci}.manifest.v1+json`,
  config: `${oci}.config.v1+json`,
  layer: `${oci}.layer.v1.tar+gzip`,
};

/** What an engine starts. */
const imageProgram = [`/${layout.node}`, '--no-warnings', `/${layout.dist}/svc.cjs`];

interface ImageFacts {
  flavour: Flavour;
  version: string;
  /** ISO 8601. */
  created: string;
  /** Digest of the layer as it is unpacked. */
  diffId: string;
}

export function imageConfig({ flavour, version, created, diffId }: ImageFacts) {
  return {
    created,
    architecture: flavour.debArch,
    os: 'linux',
    config: {
      User: `${imageUser}:${imageUser}`,
      Entrypoint: imageProgram,
      Cmd: ['serve'],
      Env: ['PATH=/usr/bin:/bin', 'HOME=/var/lib/svc'],
      WorkingDir: '/var/lib/svc',
      ExposedPorts: { '8880/tcp': {} },
      Volumes: { '/var/lib/svc': {} },
      StopSignal: 'SIGTERM',
      Labels: {
        'org.opencontainers.image.title': flavour.packageName,
        'org.opencontainers.image.version': version,
        'org.opencontainers.image.licenses': 'Apache-2.0 AND MIT',
      },
    },
    rootfs: { type: 'layers', diff_ids: [diffId] },
    history: [{ created, created_by: 'svc-package' }],
  };
}

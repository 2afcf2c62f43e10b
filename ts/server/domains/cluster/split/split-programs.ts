/** The programs of a model that is split over nodes, which no package has: the operator builds them (`node scripts/build.mjs --split FOLDER`). */
import { existsSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { confinedCommand } from '../../../native/confinement.ts';

const MIB = 1024 * 1024;
/** Beyond what any machine computes. */
const MOST_CPU_SECONDS = 2 ** 31;

/** Undefined: they are not there. */
export function findSplitPrograms(named: string, installRoot: string): string | undefined {
  const folder = named === '' ? join(installRoot, 'build', 'split') : named;
  return ['llama-server', 'ggml-rpc-server'].every((name) => existsSync(join(folder, name))) ? folder : undefined;
}

/** The server of another node's tensors: it listens on loopback, reads nothing but its own libraries, and asks nobody. */
export function rpcServerCommand(folder: string): { file: string; args: string[] } {
  return confinedCommand([join(folder, 'ggml-rpc-server'), '-H', '127.0.0.1', '-p', '{port}'], {
    memoryMiB: Math.ceil(totalmem() / MIB),
    cpuSeconds: MOST_CPU_SECONDS,
    readable: [folder],
    mayListen: true,
  });
}

/** llama-server over the tunnels. It reads the files of the model, whose size counts as address space. */
export function llamaServerCommand(
  folder: string,
  { files, sizeBytes, name, port }: { files: readonly string[]; sizeBytes: number; name: string; port: number },
): { file: string; args: string[] } {
  const [model = ''] = files;
  const served = ['--model', model, '--alias', name, '--host', '127.0.0.1', '--port', String(port), '--jinja', '--no-ui'];
  // What it would keep beside its sequences is found by every tenant, and travels over the network to be found.
  const split = ['--gpu-layers', 'all', '--cache-ram', '0', '--rpc', '{rpc}'];
  return confinedCommand([join(folder, 'llama-server'), ...served, ...split], {
    memoryMiB: Math.ceil((totalmem() + sizeBytes) / MIB),
    cpuSeconds: MOST_CPU_SECONDS,
    readable: [folder, ...files],
    hasNetwork: true,
  });
}

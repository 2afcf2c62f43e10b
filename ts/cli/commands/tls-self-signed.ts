import { join } from 'node:path';
import { CliError } from '../cli-error.ts';
import { command } from '../command.ts';
import { readConfig } from '../configuration.ts';

export const tlsSelfSigned = command({
  words: ['tls', 'self-signed'],
  summary: 'Make a certificate for the public listener that the machine signs itself',
  options: {
    folder: { kind: 'text', value: 'FOLDER', help: 'where cert.pem and key.pem go; tls inside data_dir unless given' },
    name: { kind: 'texts', value: 'NAME', help: 'a further host name or address that it holds for; may be repeated' },
    days: { kind: 'integer', value: 'N', min: 1, max: 3650, help: 'how long it holds; 825 unless given' },
  },
  examples: ['svc tls self-signed', 'svc tls self-signed --name svc.example --name 10.0.0.5'],
  async run(invocation) {
    const { options, terminal } = invocation;
    const folder = options.folder ?? join(readConfig(invocation).values.data_dir, 'tls');
    const files = await create(folder, options.name ?? [], options.days);
    const lines = [
      `certificate: ${files.certFile}`,
      `private key: ${files.keyFile}`,
      '',
      'Put this into svc.toml; clients have to be told to trust the certificate:',
      '[public_tls]',
      `cert = ${JSON.stringify(files.certFile)}`,
      `key = ${JSON.stringify(files.keyFile)}`,
    ];
    terminal.result({ cert: files.certFile, key: files.keyFile }, lines.join('\n'));
    return 'ok';
  },
});

async function create(folder: string, names: readonly string[], days: number | undefined) {
  // Loaded here: the other commands need not read a library for certificates.
  const { createSelfSigned } = await import('../../server/platform/http/self-signed.ts');
  try {
    return await createSelfSigned({ folder, names, ...(days === undefined ? {} : { days }) });
  } catch (error) {
    if (((error as Error).cause as NodeJS.ErrnoException | undefined)?.code !== 'EEXIST') throw error;
    const remedy = 'use what is there, move it away first, or name another --folder';
    throw new CliError('conflict', 'exists', `${folder} has a certificate or a key already`, remedy, error);
  }
}

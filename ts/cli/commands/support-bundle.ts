import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { CliError } from '../cli-error.ts';
import { command } from '../command.ts';
import { formatBytes, printable } from '../format.ts';
import { clientOptions } from '../server-client.ts';
import { collectSupportBundle } from '../support/support-bundle.ts';

export const supportBundle = command({
  words: ['support-bundle'],
  summary: 'Collect logs, settings, versions, health and metrics, without secrets, into one file for who helps you',
  options: {
    ...clientOptions,
    output: { kind: 'text', value: 'FILE', help: 'where to write it (else svc-support-TIME.tar.gz in this folder)' },
    log: { kind: 'texts', value: 'FILE', help: 'a file with lines of the log, beside the journal; may be given again' },
    lines: { kind: 'integer', value: 'N', min: 0, max: 1_000_000, help: 'most lines of each log (else 20000)' },
  },
  examples: ['svc support-bundle', 'svc support-bundle --log /var/log/svc.log --output /tmp/svc.tar.gz'],
  async run(invocation) {
    const { options, terminal } = invocation;
    const now = new Date();
    const { bytes, names, missing } = await collectSupportBundle(invocation, {
      logFiles: (options.log ?? []).map((file) => resolve(file)),
      logLines: options.lines ?? 20_000,
      now,
    });
    const file = resolve(options.output ?? `${names[0]?.split('/')[0] ?? 'svc-support'}.tar.gz`);
    await writeFile(file, bytes, { flag: 'wx', mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
      throw new CliError('conflict', 'exists', `${file} is there already`, 'name another file with --output', error);
    });
    for (const line of missing) terminal.note(`not in it: ${printable(line)}`);
    terminal.note('Names of models, accounts, hosts and folders stay in it: look through it before you hand it on.');
    const result = { file, size_bytes: bytes.length, files: names, missing };
    terminal.result(result, `${file}: ${names.length} files, ${formatBytes(bytes.length)}`);
    return 'ok';
  },
});

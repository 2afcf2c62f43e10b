import { destinationText } from '../backup-access.ts';
import { command } from '../command.ts';
import { printable } from '../format.ts';
import { clientOptions, ServerClient } from '../server-client.ts';

interface Destination {
  folder: string;
  encrypted: boolean | null;
}

const path = '/api/v1/backup/destination';

export const backupDestination = command({
  words: ['backup', 'destination'],
  summary: 'Show where a running node puts its backups, or name another folder, bucket or SFTP server',
  positionals: [
    {
      name: 'FOLDER',
      help: 'on the machine of the node, or s3://... or sftp://...; backups in the old one stay there. The unit of an installed svc lets it write into a folder of another disk once it names it: `systemctl edit svc.service`, [Service], ReadWritePaths=FOLDER',
      optional: true,
    },
  ],
  options: clientOptions,
  examples: [
    'svc backup destination',
    'svc backup destination /mnt/backups/svc',
    'svc backup destination "s3://backups/svc?endpoint=https://s3.example&region=eu-central-1"',
    'svc backup destination sftp://svc@backup.example/srv/svc',
  ],
  async run(invocation) {
    const [folder] = invocation.positionals;
    const { terminal, signal } = invocation;
    const client = ServerClient.from(invocation);
    const answer =
      folder === undefined
        ? await client.send('GET', path, undefined, signal)
        : await client.send('PUT', path, { folder: destinationText(folder) }, signal);
    const shown = answer as Destination;
    const state = shown.encrypted === null ? 'no backups yet' : shown.encrypted ? 'encrypted' : 'not encrypted';
    terminal.result(shown, `${printable(shown.folder)} (${state})`);
    return 'ok';
  },
});

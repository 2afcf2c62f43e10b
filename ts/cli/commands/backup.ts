/** `svc backup create` and `destination`: backups of a running node. */
import { destinationText } from '../backup-access.ts';
import { printable } from '../format.ts';
import { serverCommand } from '../server-command.ts';
import { readToEnd } from './jobs.ts';

export const backupDestination = serverCommand({
  words: ['backup', 'destination'],
  summary: 'Show where a running node puts its backups, or name another folder, bucket or SFTP server',
  positionals: [
    {
      name: 'FOLDER',
      help: 'on the machine of the node, or s3://... or sftp://...; backups in the old one stay there. The unit of an installed svc lets it write into a folder of another disk once it names it: `systemctl edit svc.service`, [Service], ReadWritePaths=FOLDER',
      optional: true,
    },
  ],
  examples: [
    'svc backup destination',
    'svc backup destination /mnt/backups/svc',
    'svc backup destination "s3://backups/svc?endpoint=https://s3.example&region=eu-central-1"',
    'svc backup destination sftp://svc@backup.example/srv/svc',
  ],
  async run({ positionals: [folder], client, terminal }) {
    const shown =
      folder === undefined
        ? await client.call('GET /api/v1/backup/destination')
        : await client.call('PUT /api/v1/backup/destination', { body: { folder: destinationText(folder) } });
    const state = shown.encrypted === null ? 'no backups yet' : shown.encrypted ? 'encrypted' : 'not encrypted';
    terminal.result(shown, `${printable(shown.folder)} (${state})`);
    return 'ok';
  },
});

export const backupCreate = serverCommand({
  words: ['backup', 'create'],
  summary: 'Back the running node up while it serves, and wait until the backup is there',
  async run({ client, terminal }) {
    const { job_id: id } = await client.call('POST /api/v1/backup/backups');
    return readToEnd(await client.request('GET /api/v1/system/jobs/{id}/events', { params: { id } }), terminal);
  },
});

import { serverCommand } from '../server-command.ts';
import { readToEnd } from './jobs.ts';

export const backupCreate = serverCommand({
  words: ['backup', 'create'],
  summary: 'Back the running node up while it serves, and wait until the backup is there',
  async run({ client, terminal }) {
    const { job_id: id } = await client.call('POST /api/v1/backup/backups');
    return readToEnd(await client.request('GET /api/v1/system/jobs/{id}/events', { params: { id } }), terminal);
  },
});

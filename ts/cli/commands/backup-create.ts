import { command } from '../command.ts';
import { jobPath } from '../job-row.ts';
import { clientOptions, ServerClient } from '../server-client.ts';
import { readToEnd } from './jobs-follow.ts';

export const backupCreate = command({
  words: ['backup', 'create'],
  summary: 'Back the running node up while it serves, and wait until the backup is there',
  options: clientOptions,
  async run(invocation) {
    const { terminal, signal } = invocation;
    const client = ServerClient.from(invocation);
    const { job_id: id } = (await client.send('POST', '/api/v1/backup/backups', undefined, signal)) as { job_id: string };
    return readToEnd(await client.stream(`${jobPath(id)}/events`, signal), terminal);
  },
});

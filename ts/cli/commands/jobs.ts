import { command } from '../command.ts';
import { formatTable, printable } from '../format.ts';
import { type JobRow, jobPath, jobsPath, jobText, progressText, stateText } from '../job-row.ts';
import { clientOptions, ServerClient } from '../server-client.ts';

const job = { name: 'JOB', help: 'id of the job, as `svc jobs list` shows it' };

export const jobsList = command({
  words: ['jobs', 'list'],
  summary: 'Background jobs of a running server, newest first',
  options: {
    ...clientOptions,
    state: { kind: 'choice', choices: ['queued', 'running', 'done', 'failed', 'cancelled'], help: 'only jobs in this state' },
    kind: { kind: 'text', value: 'KIND', help: 'only jobs of this kind, for example inference.pull' },
    limit: { kind: 'integer', value: 'N', min: 1, max: 200, help: 'as many at most (50)' },
  },
  examples: ['svc jobs list', 'svc jobs list --state failed'],
  async run(invocation) {
    const { options, terminal, signal } = invocation;
    const { state, kind, limit } = options;
    const query = new URLSearchParams({
      ...(state !== undefined && { state }),
      ...(kind !== undefined && { kind }),
      ...(limit !== undefined && { limit: String(limit) }),
    });
    const answer = await ServerClient.from(invocation).send('GET', `${jobsPath}?${query}`, undefined, signal);
    const { jobs } = answer as { jobs: JobRow[] };
    const rows = jobs.map((row) => [row.id, printable(row.kind), stateText(row), row.created_at, progressText(row)]);
    const text = rows.length === 0 ? 'no jobs' : formatTable(['JOB', 'KIND', 'STATE', 'CREATED', 'PROGRESS'], rows);
    terminal.result(jobs, text);
    return 'ok';
  },
});

export const jobsShow = command({
  words: ['jobs', 'show'],
  summary: 'One background job: state, progress, result or error',
  positionals: [job],
  options: clientOptions,
  async run(invocation) {
    const { positionals, terminal, signal } = invocation;
    const row = await ServerClient.from(invocation).send('GET', jobPath(positionals[0] ?? ''), undefined, signal);
    terminal.result(row, jobText(row as JobRow));
    return 'ok';
  },
});

export const jobsCancel = command({
  words: ['jobs', 'cancel'],
  summary: 'Cancel a background job: at once while it is queued, soon while it runs',
  positionals: [job],
  options: clientOptions,
  async run(invocation) {
    const { positionals, terminal, signal } = invocation;
    const path = `${jobPath(positionals[0] ?? '')}/cancel`;
    const row = (await ServerClient.from(invocation).send('POST', path, undefined, signal)) as JobRow;
    terminal.result(row, `${row.id} is ${stateText(row)}`);
    return 'ok';
  },
});

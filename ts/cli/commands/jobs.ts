/** `svc jobs`: background jobs of a running server. */
import { readEvents } from '../../client/events.ts';
import { CliError } from '../cli-error.ts';
import { printable } from '../format.ts';
import { hasEnded, type Job, jobText, progressText, stateText } from '../job.ts';
import { listCommand, requestCommand, serverCommand } from '../server-command.ts';
import type { Terminal } from '../terminal.ts';

const jobId = { name: 'JOB', help: 'id of the job, as `svc jobs list` shows it' };

export const jobsList = listCommand({
  words: ['jobs', 'list'],
  summary: 'Background jobs of a running server, newest first',
  options: {
    state: { kind: 'choice', choices: ['queued', 'running', 'done', 'failed', 'cancelled'], help: 'only jobs in this state' },
    kind: { kind: 'text', value: 'KIND', help: 'only jobs of this kind, for example inference.pull' },
    limit: { kind: 'integer', value: 'N', min: 1, max: 200, help: 'as many at most (50)' },
  },
  examples: ['svc jobs list', 'svc jobs list --state failed'],
  route: 'GET /api/v1/system/jobs',
  given: ({ options: { state, kind, limit } }) => ({ query: { state, kind, limit } }),
  columns: {
    JOB: ({ id }) => id,
    KIND: ({ kind }) => kind,
    STATE: stateText,
    CREATED: ({ created_at: at }) => at,
    PROGRESS: progressText,
  },
  empty: 'no jobs',
});

export const jobsShow = requestCommand({
  words: ['jobs', 'show'],
  summary: 'One background job: state, progress, result or error',
  positionals: [jobId],
  route: 'GET /api/v1/system/jobs/{id}',
  given: ({ positionals: [id = ''] }) => ({ params: { id } }),
  text: jobText,
});

export const jobsFollow = serverCommand({
  words: ['jobs', 'follow'],
  summary: 'Watch a background job until it ends; fails when the job does',
  positionals: [jobId],
  run: async ({ positionals: [id = ''], client, terminal }) =>
    readToEnd(await client.request('GET /api/v1/system/jobs/{id}/events', { params: { id } }), terminal),
});

export const jobsCancel = requestCommand({
  words: ['jobs', 'cancel'],
  summary: 'Cancel a background job: at once while it is queued, soon while it runs',
  positionals: [jobId],
  route: 'POST /api/v1/system/jobs/{id}/cancel',
  given: ({ positionals: [id = ''] }) => ({ params: { id } }),
  text: (job) => `${job.id} is ${stateText(job)}`,
});

/** Shows a job's progress until it ends. Throws CliError when the job failed or the stream was cut. */
export async function readToEnd({ body }: Response, terminal: Terminal): Promise<'ok'> {
  let shown = '';
  for await (const events of body === null ? [] : readEvents(body))
    for (const { data } of events) {
      const job = JSON.parse(data) as Job;
      if (hasEnded(job)) return ended(job, (text) => terminal.result(job, text));
      const line = `${stateText(job)}: ${progressText(job)}`;
      if (line !== shown) terminal.note(line);
      shown = line;
    }
  throw new CliError('failed', 'stream_cut', 'the server ended before the job did', 'follow the job again once it is back');
}

function ended(job: Job, show: (text: string) => void): 'ok' {
  if (job.state === 'done') {
    show(jobText(job));
    return 'ok';
  }
  const reason = job.error === null ? '' : `: ${printable(job.error.detail)}`;
  const remedy = printable(job.error?.remedy ?? 'enqueue it again if it is still wanted');
  throw new CliError('failed', `job_${job.state}`, `the job ${job.id} is ${job.state}${reason}`, remedy);
}

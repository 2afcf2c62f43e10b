import { readEvents } from '../chat/server-sent-events.ts';
import { CliError } from '../cli-error.ts';
import { command } from '../command.ts';
import { printable } from '../format.ts';
import { hasEnded, type JobRow, jobPath, jobText, progressText, stateText } from '../job-row.ts';
import { clientOptions, ServerClient } from '../server-client.ts';
import type { Terminal } from '../terminal.ts';

export const jobsFollow = command({
  words: ['jobs', 'follow'],
  summary: 'Watch a background job until it ends; fails when the job does',
  positionals: [{ name: 'JOB', help: 'id of the job, as `svc jobs list` shows it' }],
  options: clientOptions,
  async run(invocation) {
    const { positionals, terminal, signal } = invocation;
    const response = await ServerClient.from(invocation).stream(`${jobPath(positionals[0] ?? '')}/events`, signal);
    return readToEnd(response, terminal);
  },
});

/** Shows a job's progress until it ends. Throws CliError when the job failed or the stream was cut. */
export async function readToEnd(response: Response, terminal: Terminal): Promise<'ok'> {
  let shown = '';
  for await (const data of response.body === null ? [] : readEvents(response.body)) {
    const job = JSON.parse(data) as JobRow;
    if (hasEnded(job)) return ended(job, (text) => terminal.result(job, text));
    const line = `${stateText(job)}: ${progressText(job)}`;
    if (line !== shown) terminal.note(line);
    shown = line;
  }
  throw new CliError('failed', 'stream_cut', 'the server ended before the job did', 'follow the job again once it is back');
}

function ended(job: JobRow, show: (text: string) => void): 'ok' {
  if (job.state === 'done') {
    show(jobText(job));
    return 'ok';
  }
  const reason = job.error === null ? '' : `: ${printable(job.error.detail)}`;
  const remedy = printable(job.error?.remedy ?? 'enqueue it again if it is still wanted');
  throw new CliError('failed', `job_${job.state}`, `the job ${job.id} is ${job.state}${reason}`, remedy);
}

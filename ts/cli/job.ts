/** A job as the server shows it, and how it is told to people. */
import type { Answer } from '../client/client.ts';
import { formatBytes, printable } from './format.ts';

export type Job = Answer<'GET /api/v1/system/jobs/{id}'>;

export function hasEnded({ state }: Job): boolean {
  return state !== 'queued' && state !== 'running';
}

/** What stands in a cell of a table, or on a line of its own. */
export function progressText({ progress, eta_seconds: eta }: Job): string {
  if (progress === null) return '-';
  const { done, total, unit, message } = progress;
  const amount = (n: number) => (unit === 'bytes' ? formatBytes(n) : String(n));
  const counted = total === null ? amount(done) : `${amount(done)} of ${amount(total)}`;
  const named = unit === null || unit === 'bytes' ? counted : `${counted} ${unit}`;
  return printable([named, message ?? '', eta === null ? '' : `${eta} s left`].filter((part) => part !== '').join(', '));
}

export function stateText(job: Job): string {
  return job.state === 'running' && job.cancel_requested ? 'cancelling' : job.state;
}

export function jobText(job: Job): string {
  const { id, kind, owner, attempts, max_attempts: most, error, result, created_at: created } = job;
  const lines = [
    ['job', id],
    ['kind', kind],
    ['state', stateText(job)],
    ['owner', owner ?? '-'],
    ['created', created],
    ['attempts', `${attempts} of ${most}`],
    ['progress', progressText(job)],
    ...(error === null ? [] : [['error', `${error.code}: ${error.detail}`]]),
    ...(error?.remedy ? [['remedy', error.remedy]] : []),
    ...(result === null || result === undefined ? [] : [['result', JSON.stringify(result)]]),
  ];
  return lines.map(([name = '', value = '']) => `${name.padEnd(10)}${printable(value)}`).join('\n');
}

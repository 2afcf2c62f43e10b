/** `svc router`: how well models and knowledge bases are chosen for requests that leave it to the node. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Client } from '../../client/client.ts';
import { hasEnded, type Job } from '../job.ts';
import { serverCommand } from '../server-command.ts';

interface Shares {
  readonly learned: number;
  readonly floor: number;
}

interface Learned {
  readonly later: Shares;
  readonly random: Shares;
}

const LOOK_MS = 500;

export const routerEval = serverCommand({
  words: ['router', 'eval'],
  summary: 'Have the router judged by what people did, and taught, and compare it with the rule',
  examples: ['svc router eval'],
  async run({ client, terminal }) {
    const { job_id: id } = await client.call('POST /api/v1/router-xlstm/learn', { body: {} });
    const job = await jobEnd(client, id);
    if (job.state !== 'done') {
      terminal.note(`${job.error?.detail ?? `the job ${id} is ${job.state}`}`);
      return 'failed';
    }
    const status = await client.call('GET /api/v1/router-xlstm/status');
    const result = job.result as Partial<Record<'knowledge' | 'model', Learned | null>>;
    const lines = [
      `${status.decisions} choices, ${status.regret} of them proved wrong; memory.router is ${status.mode}`,
      ...(['knowledge', 'model'] as const).map((kind) => `${kind}: ${figures(result[kind] ?? undefined)}`),
    ];
    terminal.result({ ...status, result }, lines.join('\n'));
    return 'ok';
  },
});

function figures(learned: Learned | undefined): string {
  if (learned === undefined) return 'too little is known to learn from, and the rule chooses';
  const { later, random } = learned;
  return `${percent(later.learned)} right on later traffic, the rule ${percent(later.floor)} (on a random split ${percent(random.learned)} and ${percent(random.floor)})`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

async function jobEnd(client: Client, id: string): Promise<Job> {
  for (;;) {
    const job = await client.call('GET /api/v1/system/jobs/{id}', { params: { id } });
    if (hasEnded(job)) return job;
    await wait(LOOK_MS);
  }
}

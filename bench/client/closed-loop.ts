/** Closed loop: every client sends its next request as soon as its last one ended. */
import { Worker } from 'node:worker_threads';
import type { ClosedLoad } from '../load/load.ts';
import { shapedBody } from './chat-body.ts';
import { type ChatAnswer, sendChat } from './chat-request.ts';
import type { Scenario } from './scenario.ts';
import { summarise } from './summary.ts';

export const runClosedLoop: Scenario<ClosedLoad> = async ({ target, seed }, load) => {
  const burners = Array.from({ length: load.burners ?? 0 }, () => new Worker('for (;;);', { eval: true }));
  const startedAt = performance.now();
  const clients = Array.from({ length: load.clients }, async (_, client) => {
    const answers: ChatAnswer[] = [];
    for (let turn = 0; turn < load.requestsPerClient; turn++) {
      answers.push(await sendChat(target, shapedBody(load, seed, client * 1_009 + turn)));
    }
    return answers;
  });
  const answers = (await Promise.all(clients)).flat();
  const sample = summarise(answers, (performance.now() - startedAt) / 1_000);
  await Promise.all(burners.map((burner) => burner.terminate()));
  return sample;
};

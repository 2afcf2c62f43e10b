/** How much a tenant gets that asks for more than its tokens a minute. */
import type { TenantBudgetLoad } from '../load/load.ts';
import { meteredTokensPerMinute } from '../load/tenant-keys.ts';
import { shapedBody } from './chat-body.ts';
import { type ChatAnswer, keyOf, sendChat } from './chat-request.ts';
import type { Scenario } from './scenario.ts';
import { summarise } from './summary.ts';
import { sleep } from './wait.ts';

/** A refused client asks again soon, whatever it is told. */
const retryDelayMs = 20;

export const runTenantBudget: Scenario<TenantBudgetLoad> = async ({ target, seed }, load) => {
  const answers: ChatAnswer[] = [];
  const startedAt = performance.now();
  const endsAt = startedAt + load.seconds * 1_000;
  const clients = Array.from({ length: load.clients }, async (_, client) => {
    for (let turn = 0; performance.now() < endsAt; turn++) {
      const body = shapedBody(load, seed, client * 10_007 + turn);
      const answer = await sendChat(target, body, keyOf(target, 'metered'));
      answers.push(answer);
      if (answer.status !== 200) await sleep(retryDelayMs);
    }
  });
  await Promise.all(clients);
  const used = answers.reduce((sum, { nPromptTokens, nCompletionTokens }) => sum + nPromptTokens + nCompletionTokens, 0);
  const refused = answers.filter(({ status }) => status === 429);
  return {
    ...summarise(answers, (performance.now() - startedAt) / 1_000),
    nFailed: answers.filter(({ status }) => status !== 200 && status !== 429).length,
    nRefused: refused.length,
    budgetUsed: used / meteredTokensPerMinute,
  };
};

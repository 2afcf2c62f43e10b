/** Closed loop: every client sends its next request as soon as its last one ended. */
import { Agent } from 'node:http';
import type { ChatLoad } from '../load/load.ts';
import { quantile } from '../statistics.ts';
import type { Sample } from '../trial.ts';
import { type ChatAnswer, sendChat } from './chat-request.ts';
import { makeWords } from './prompt.ts';

export async function runClosedLoop(url: string, load: ChatLoad, seed: number): Promise<Sample> {
  const agent = new Agent({ keepAlive: true, maxSockets: load.clients });
  const startedAt = performance.now();
  const clients = Array.from({ length: load.clients }, (_, client) => runClient(url, agent, load, seed, client));
  const answers = (await Promise.all(clients)).flat();
  agent.destroy();
  return summarise(answers, (performance.now() - startedAt) / 1_000);
}

async function runClient(url: string, agent: Agent, load: ChatLoad, seed: number, client: number): Promise<ChatAnswer[]> {
  const answers: ChatAnswer[] = [];
  for (let turn = 0; turn < load.requestsPerClient; turn++) {
    const own = makeWords(load.ownWords, seed * 1_000_003 + client * 1_009 + turn + 1);
    answers.push(await sendChat(url, agent, chatBody(`${makeWords(load.sharedWords, seed)} ${own}`, load.maxTokens)));
  }
  return answers;
}

/** Greedy and deaf to the end token: every server then does the same work. */
function chatBody(content: string, maxTokens: number): object {
  return {
    model: 'bench',
    messages: [{ role: 'user', content }],
    max_tokens: maxTokens,
    temperature: 0,
    ignore_eos: true,
    stream: true,
    stream_options: { include_usage: true },
  };
}

function summarise(answers: readonly ChatAnswer[], seconds: number): Sample {
  const ttft = answers.map((answer) => answer.ttftMs);
  const gaps = answers.flatMap((answer) => answer.gapsMs);
  const sum = (pick: (answer: ChatAnswer) => number) => answers.reduce((total, answer) => total + pick(answer), 0);
  return {
    nRequests: answers.length,
    nFailed: answers.filter((answer) => answer.status !== 200 || answer.nCompletionTokens === 0).length,
    nResent: sum((answer) => answer.nResent),
    seconds,
    tokensPerSecond: sum((answer) => answer.nCompletionTokens) / seconds,
    promptTokensEvaluated: sum((answer) => answer.nPromptEvaluated),
    ttftP50Ms: quantile(ttft, 0.5),
    ttftP95Ms: quantile(ttft, 0.95),
    ttftP99Ms: quantile(ttft, 0.99),
    itlP50Ms: gaps.length > 0 ? quantile(gaps, 0.5) : 0,
    itlP99Ms: gaps.length > 0 ? quantile(gaps, 0.99) : 0,
    e2eP50Ms: quantile(
      answers.map((answer) => answer.e2eMs),
      0.5,
    ),
  };
}

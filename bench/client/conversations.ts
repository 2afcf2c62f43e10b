/** Chats of several turns, all at once: each turn sends the whole history again. */
import type { ConversationLoad } from '../load/load.ts';
import { chatBody, type Message } from './chat-body.ts';
import { type ChatAnswer, sendChat } from './chat-request.ts';
import type { Target } from './connection.ts';
import { makeWords } from './prompt.ts';
import type { Scenario } from './scenario.ts';
import { summarise } from './summary.ts';

export const runConversations: Scenario<ConversationLoad> = async ({ target, seed }, load) => {
  const startedAt = performance.now();
  const chats = await Promise.all(
    Array.from({ length: load.clients }, (_, chat) => runConversation(target, load, seed * 65_537 + chat * 257)),
  );
  const sample = summarise(chats.flat(), (performance.now() - startedAt) / 1_000);
  const nNew = chats.reduce((sum, answers) => sum + countNew(answers), 0);
  return { ...sample, newPromptTokens: nNew, evaluatedPerNewToken: (sample['promptTokensEvaluated'] ?? 0) / nNew };
};

async function runConversation(target: Target, load: ConversationLoad, seed: number): Promise<ChatAnswer[]> {
  const messages: Message[] = [];
  const answers: ChatAnswer[] = [];
  for (let turn = 0; turn < load.turns; turn++) {
    messages.push({ role: 'user', content: makeWords(load.wordsPerTurn, seed + 2 * turn) });
    answers.push(await sendChat(target, chatBody(messages, load.maxTokens, seed + turn)));
    messages.push({ role: 'assistant', content: makeWords(load.answerWords, seed + 2 * turn + 1) });
  }
  return answers;
}

/** What no cache could have held: each turn's prompt without the turn's before it. The last turn's prompt is all of them. */
function countNew(answers: readonly ChatAnswer[]): number {
  return Math.max(...answers.map(({ nPromptTokens }) => nPromptTokens));
}

import { text as readAll } from 'node:stream/consumers';
import { ChatSession, noteSubstitute } from '../chat/chat-session.ts';
import { type ChatMessage, streamChat } from '../chat/chat-stream.ts';
import { CliError, usageError } from '../cli-error.ts';
import { printable } from '../format.ts';
import { askModels, findChatModel } from '../served-model.ts';
import { type Served, serverCommand } from '../server-command.ts';

const options = {
  model: { kind: 'text', value: 'NAME', help: 'model to ask (else the server’s default)', aliases: ['-m'] },
  system: { kind: 'text', value: 'TEXT', help: 'instruction for the model' },
  'max-tokens': { kind: 'integer', value: 'N', min: 1, help: 'longest answer, tokens' },
  temperature: { kind: 'text', value: 'X', help: '0 for the likeliest answer, up to 2' },
} as const;

export const chat = serverCommand({
  words: ['chat'],
  summary: 'Talk to a model at the terminal; with words (or piped text) it answers once',
  positionals: [{ name: 'WORDS', help: 'a question; without one a conversation begins', optional: true, many: true }],
  options,
  examples: [
    'svc chat',
    'svc chat --model qwen3-0.6b-q8_0 "What is a GGUF file?"',
    'git diff | svc chat "Summarise this change"',
  ],
  async run(invocation) {
    const { positionals, client, terminal, signal } = invocation;
    const isConversation = positionals.length === 0 && process.stdin.isTTY === true;
    if (isConversation && terminal.json) throw usageError('--json needs a question', 'svc chat --json "your question"');
    const request = { model: invocation.options.model ?? (await chooseModel(invocation)), ...sampling(invocation) };
    if (!isConversation) return answerOnce(invocation, request);
    const { system } = invocation.options;
    const session = new ChatSession({ client, terminal, input: process.stdin, request, ...(system !== undefined && { system }) });
    // readline sees Ctrl-C first while it reads; the signal covers the time in between.
    signal.addEventListener('abort', () => session.interrupt());
    terminal.note(`Talking to ${request.model} at ${client.base.origin}. /help for the commands.`);
    await session.run();
    return 'ok';
  },
});

type ChatInvocation = Served<typeof options>;

async function answerOnce(
  { options, positionals, client, terminal, signal }: ChatInvocation,
  request: { model: string },
): Promise<'ok'> {
  const piped = process.stdin.isTTY ? '' : await readAll(process.stdin);
  const content = [positionals.join(' '), piped.trim()].filter((part) => part !== '').join('\n\n');
  if (content === '') throw usageError('there is no question', 'svc chat "your question"');
  const system: ChatMessage[] = options.system === undefined ? [] : [{ role: 'system', content: options.system }];
  const messages: ChatMessage[] = [...system, { role: 'user', content }];
  const onText = (text: string) => terminal.json || terminal.write(terminal.isInteractive ? printable(text) : text);
  const answer = await streamChat(client, { ...request, messages }, { onText }, signal);
  const { text, model, finishReason, usage } = answer;
  if (terminal.json) terminal.result({ model, text, finish_reason: finishReason, usage }, '');
  else terminal.write('\n');
  noteSubstitute(terminal, request.model, model);
  return 'ok';
}

function sampling({ options }: ChatInvocation): { temperature?: number; maxTokens?: number } {
  const temperature = options.temperature === undefined ? undefined : Number(options.temperature);
  if (temperature !== undefined && !(temperature >= 0 && temperature <= 2))
    throw usageError(`--temperature is "${options.temperature}"`, 'give a number from 0 to 2');
  const maxTokens = options['max-tokens'];
  return { ...(temperature !== undefined && { temperature }), ...(maxTokens !== undefined && { maxTokens }) };
}

async function chooseModel({ client, signal }: ChatInvocation): Promise<string> {
  const model = findChatModel(await askModels(client, signal));
  if (model) return model.id;
  throw new CliError('not_found', 'not_found', 'the server has no model that chats', 'pull one: svc models pull qwen3-0.6b-q8_0');
}

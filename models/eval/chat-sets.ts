/** Measures a chat model on the held-out sets, through a real server over HTTP. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type ChatAnswer, type ChatItem, isInLanguage, isRight, matchesSchema } from './chat-item.ts';
import { type Figure, shareFigure } from './figure.ts';

const run = promisify(execFile);
const recipe = join(import.meta.dirname, '../svc-chat-tiny');

interface ChatSet {
  name: string;
  file: string;
  goal?: number;
  judge?: (item: ChatItem, answer: ChatAnswer) => boolean;
}

const withoutCall = (_: ChatItem, answer: ChatAnswer) => !answer.tool_calls?.length;

const sets: readonly ChatSet[] = [
  { name: 'passages: value and citation', file: 'passages-value', goal: 0.9 },
  { name: 'passages: says that they do not tell', file: 'passages-refusal', goal: 0.85 },
  { name: "passages: in the question's language", file: 'passages-value', judge: isInLanguage },
  { name: 'tools: exact call', file: 'tools-call', goal: 0.85 },
  { name: 'tools: no call where none fits', file: 'tools-no-call', goal: 0.85, judge: withoutCall },
  { name: 'tools: no call, and the right words', file: 'tools-no-call' },
  { name: "tools: uses the call's result", file: 'tools-result' },
  { name: 'JSON: valid by the schema', file: 'json', goal: 1, judge: matchesSchema },
  { name: 'JSON: right values', file: 'json', goal: 0.85 },
  { name: 'small talk, in the right language', file: 'small-talk' },
  // Written by hand with everyday names and wordings: how far what was learned from made-up ones carries.
  { name: 'written by hand: passages', file: 'written/passages' },
  { name: 'written by hand: tools', file: 'written/tools' },
  { name: 'written by hand: JSON', file: 'written/json' },
];

interface ChatSetOptions {
  url: string;
  model: string;
  /** Items a set. */
  count: number;
  python: string;
}

export async function measureChatSets(options: ChatSetOptions): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-eval-'));
  try {
    await run(options.python, [join(recipe, 'evaluation.py'), folder, '--count', String(options.count)]);
    const answers = new Map<string, { item: ChatItem; answer: ChatAnswer }[]>();
    for (const file of new Set(sets.map((set) => set.file)))
      answers.set(file, await answerAll(readSet(file.startsWith('written/') ? recipe : folder, file), options));
    return sets.map(({ name, file, goal, judge = isRight }) => {
      const judged = answers.get(file) ?? [];
      return shareFigure(name, judged.filter(({ item, answer }) => judge(item, answer)).length, judged.length, goal);
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readSet(folder: string, file: string): ChatItem[] {
  const lines = readFileSync(join(folder, `${file}.jsonl`), 'utf8')
    .trim()
    .split('\n');
  return lines.map((line) => JSON.parse(line) as ChatItem);
}

async function answerAll(items: readonly ChatItem[], options: ChatSetOptions): Promise<{ item: ChatItem; answer: ChatAnswer }[]> {
  const answered = [];
  // One at a time: greedy answers then do not depend on which requests share a batch.
  for (const item of items) answered.push({ item, answer: await ask(item, options) });
  return answered;
}

async function ask({ messages, tools, schema }: ChatItem, { url, model }: ChatSetOptions): Promise<ChatAnswer> {
  const body = {
    model,
    messages,
    temperature: 0,
    max_tokens: 200,
    ...(tools ? { tools } : {}),
    ...(schema ? { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } } } : {}),
  };
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`the server answered ${response.status}: ${await response.text()}`);
  const { choices } = (await response.json()) as { choices: { message: ChatAnswer }[] };
  return choices[0]?.message ?? { content: null };
}

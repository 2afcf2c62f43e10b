/** Items of the held-out sets of svc-chat-tiny (models/svc-chat-tiny/evaluation.py writes them), and how an answer is judged. */
import { isDeepStrictEqual } from 'node:util';
import { Compile } from 'typebox/schema';

export interface ChatItem {
  messages: object[];
  tools?: object[];
  schema?: object;
  /** Of the question, where it is over passages. */
  language?: 'en' | 'de';
  /** `ending`: a value and its citation, `refusal`: that there is none; how the answer leads to them is free. */
  expected:
    | { text: string }
    | { ending: string }
    | { refusal: string }
    | { json: object }
    | { call: { name: string; arguments: object } };
}

/** How an answer over passages begins. */
const beginnings = { en: /^(?:The|When|By whom|Where) /, de: /^Zu / };

export interface ChatAnswer {
  content: string | null;
  tool_calls?: { function: { name: string; arguments: string } }[];
}

/** Whether the answer is what was expected: text to the letter, JSON and calls by value, citations without any other. */
export function isRight({ expected }: ChatItem, answer: ChatAnswer): boolean {
  const calls = answer.tool_calls ?? [];
  if ('call' in expected) {
    const [call] = calls;
    return (
      calls.length === 1 && call?.function.name === expected.call.name && isJson(call.function.arguments, expected.call.arguments)
    );
  }
  if (calls.length > 0) return false;
  if ('ending' in expected) return endsWith(answer.content ?? '', expected.ending, 1);
  if ('refusal' in expected) return endsWith(answer.content ?? '', expected.refusal, 0);
  return 'json' in expected ? isJson(answer.content ?? '', expected.json) : answer.content?.trim() === expected.text;
}

/** Whether an answer over passages is in the language of the question. */
export function isInLanguage({ language }: ChatItem, answer: ChatAnswer): boolean {
  return language !== undefined && beginnings[language].test(answer.content?.trim() ?? '');
}

/** Whether an answer to a request with a schema is valid by it. */
export function matchesSchema({ schema }: ChatItem, answer: ChatAnswer): boolean {
  return schema !== undefined && Compile(schema).Check(parse(answer.content ?? ''));
}

function endsWith(text: string, ending: string, nCitations: number): boolean {
  const citations = text.match(/\[\d+\]/g) ?? [];
  return citations.length === nCitations && ` ${text.trim()}`.endsWith(` ${ending}`);
}

function isJson(text: string, expected: object): boolean {
  return isDeepStrictEqual(parse(text), expected);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** OpenAI chat messages -> the messages that the chat template sees, and the images and sounds beside them. */

import { RequestMedia } from '../../../inference/media/request-media.ts';
import { invalid } from '../../errors.ts';
import { asList, asMembers, asText, isMembers, type Members, textOr } from '../members.ts';

/** `developer` is OpenAI's newer name of `system`, and `function` its older one of `tool`. */
const roles: Readonly<Record<string, string>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
  function: 'tool',
};

export interface ReadMessages {
  messages: Members[];
  media: RequestMedia;
}

export function readMessages(list: readonly unknown[]): ReadMessages {
  const media = new RequestMedia();
  const messages = list.map((message, index) =>
    readMessage(asMembers(message, `messages[${index}]`), `messages[${index}]`, media),
  );
  return { messages, media };
}

function readMessage(message: Members, param: string, media: RequestMedia): Members {
  const role = Object.hasOwn(roles, String(message['role'])) ? roles[String(message['role'])] : undefined;
  if (role === undefined) {
    throw invalid(`${param}.role`, `${param}.role must be one of ${Object.keys(roles).join(', ')}.`);
  }
  const read: Members = { role, content: readContent(message['content'], `${param}.content`, media) };
  if (role === 'assistant') readAssistant(message, read, param);
  if (message['role'] === 'tool') read['tool_call_id'] = asText(message['tool_call_id'], `${param}.tool_call_id`);
  if (role === 'tool') read['content'] ??= '';
  if (role !== 'assistant' && read['content'] === null)
    throw invalid(`${param}.content`, `${param}.content must be a string or an array.`);
  const name = textOr(message['name'], undefined, `${param}.name`);
  if (name !== undefined) read['name'] = name;
  return read;
}

function readAssistant(message: Members, read: Members, param: string): void {
  const reasoning = textOr(message['reasoning_content'], undefined, `${param}.reasoning_content`);
  if (reasoning !== undefined) read['reasoning_content'] = reasoning;
  const { function_call: older, tool_calls: calls = older ? [{ function: older }] : undefined } = message;
  if (calls !== undefined && calls !== null) {
    const readCalls = asList(calls, `${param}.tool_calls`).map((call, index) => readCall(call, `${param}.tool_calls[${index}]`));
    if (readCalls.length > 0) read['tool_calls'] = readCalls;
  }
  if (message['audio'])
    throw invalid(
      `${param}.audio`,
      `${param}.audio names sounds of an earlier answer, and none are made here: send what was said.`,
    );
  const refusalText = textOr(message['refusal'], undefined, `${param}.refusal`);
  if (read['content'] === null && refusalText !== undefined) read['content'] = refusalText;
  if (read['content'] === null && read['tool_calls'] === undefined && reasoning === undefined) {
    throw invalid(`${param}.content`, `${param} needs content or tool_calls.`);
  }
}

function readCall(value: unknown, param: string): Members {
  const call = asMembers(value, param);
  const target = asMembers(call['function'], `${param}.function`);
  return {
    id: textOr(call['id'], '', `${param}.id`),
    type: 'function',
    function: {
      name: asText(target['name'], `${param}.function.name`),
      arguments: readArguments(target['arguments'], `${param}.function.arguments`),
    },
  };
}

/** Templates parse the arguments, so text that is no JSON is refused here, where the member can be named. */
function readArguments(value: unknown, param: string): string {
  if (isMembers(value)) return JSON.stringify(value);
  const text = textOr(value, '', param).trim() || '{}';
  try {
    JSON.parse(text);
  } catch (cause) {
    throw invalid(param, `${param} must be a string of JSON: ${(cause as Error).message}.`);
  }
  return text;
}

function readContent(content: unknown, param: string, media: RequestMedia): string | Members[] | null {
  if (content === undefined || content === null) return null;
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) throw invalid(param, `${param} must be a string, an array of parts or null.`);
  const parts = content.map((part, index) => readPart(asMembers(part, `${param}[${index}]`), `${param}[${index}]`, media));
  return parts.every((part) => part['type'] === 'text') ? parts.map((part) => part['text']).join('') : parts;
}

function readPart(part: Members, param: string, media: RequestMedia): Members {
  switch (part['type']) {
    case 'text':
      return { type: 'text', text: asText(part['text'], `${param}.text`) };
    case 'refusal':
      return { type: 'text', text: asText(part['refusal'], `${param}.refusal`) };
    case 'image_url': {
      const image = part['image_url'];
      const url =
        typeof image === 'string' ? image : asText(asMembers(image, `${param}.image_url`)['url'], `${param}.image_url.url`);
      return { type: 'image_url', image_url: { url: media.addImageUrl(url, `${param}.image_url.url`) } };
    }
    case 'input_audio':
      return { type: 'input_audio', input_audio: readSound(part['input_audio'], `${param}.input_audio`, media) };
    default:
      throw invalid(
        `${param}.type`,
        `${param}.type must be text, image_url, input_audio or refusal; other parts are not served here.`,
      );
  }
}

function readSound(value: unknown, param: string, media: RequestMedia): Members {
  const sound = asMembers(value, param);
  const format = asText(sound['format'], `${param}.format`);
  return { data: media.addSound(asText(sound['data'], `${param}.data`), format, param), format };
}

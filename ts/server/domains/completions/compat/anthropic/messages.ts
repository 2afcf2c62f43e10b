/** Anthropic messages with content blocks -> chat messages. */

import type { RequestMedia } from '../../../inference/media/request-media.ts';
import { invalid } from '../../errors.ts';
import { resultMessage } from '../../tools/tool-messages.ts';
import { asMembers, asText, isMembers, type Members } from '../members.ts';
import { earlierName, earlierResult } from './server-tools.ts';

export function readAnthropicMessages(system: unknown, list: readonly unknown[], media: RequestMedia): Members[] {
  const messages: Members[] = [];
  const prompt = readSystem(system);
  if (prompt.length > 0) messages.push({ role: 'system', content: prompt });
  for (const [index, message] of list.entries())
    addMessage(messages, asMembers(message, `messages[${index}]`), `messages[${index}]`, media);
  return messages;
}

function readSystem(system: unknown): string | Members[] {
  if (system === undefined || system === null) return '';
  if (typeof system === 'string') return system;
  const blocks = (system as unknown[]).map((block, index) => asMembers(block, `system[${index}]`));
  const parts = blocks.map((block, index) => marked(block, { type: 'text', text: readText(block, `system[${index}]`) }));
  return plainIfText(parts);
}

function readText(block: Members, param: string): string {
  if (block['type'] !== 'text') throw invalid(`${param}.type`, `${param}.type must be text.`);
  return asText(block['text'], `${param}.text`);
}

function addMessage(messages: Members[], message: Members, param: string, media: RequestMedia): void {
  const { role, content } = message;
  if (role !== 'user' && role !== 'assistant' && role !== 'system')
    throw invalid(`${param}.role`, `${param}.role must be user or assistant.`);
  if (typeof content === 'string') {
    messages.push({ role, content });
    return;
  }
  if (!Array.isArray(content)) throw invalid(`${param}.content`, `${param}.content must be a string or an array of blocks.`);
  const blocks = content.map((block, index) => asMembers(block, `${param}.content[${index}]`));
  if (role === 'assistant') messages.push(...assistantMessages(blocks, `${param}.content`));
  else addUserBlocks(messages, role, blocks, `${param}.content`, media);
}

/** Calls that the node made, each with what came of it, and the turn that followed them. */
function assistantMessages(blocks: Members[], param: string): Members[] {
  const messages: Members[] = [];
  let said: Members[] = [];
  for (const [index, block] of blocks.entries()) {
    if (!isServerResult(block)) {
      said.push(block);
      continue;
    }
    const at = `${param}[${index}]`;
    const id = asText(block['tool_use_id'], `${at}.tool_use_id`);
    if (said.length > 0) messages.push(assistantMessage(said, param));
    said = [];
    messages.push(resultMessage({ id, value: earlierResult(block), isUntrusted: true }));
  }
  if (said.length > 0 || messages.length === 0) messages.push(assistantMessage(said, param));
  return messages;
}

function isServerResult({ type }: Members): boolean {
  return type === 'web_search_tool_result' || type === 'mcp_tool_result';
}

function assistantMessage(blocks: Members[], param: string): Members {
  const message: Members = { role: 'assistant', content: null };
  const calls: Members[] = [];
  const texts: Members[] = [];
  let reasoning = '';
  const details: Members[] = [];
  for (const [index, block] of blocks.entries()) {
    const at = `${param}[${index}]`;
    if (block['type'] === 'text') texts.push(marked(block, { type: 'text', text: readText(block, at) }));
    else if (block['type'] === 'thinking') {
      const thinking = asText(block['thinking'], `${at}.thinking`);
      reasoning += thinking;
      if (block['signature']) details.push({ type: 'thinking', text: thinking, signature: block['signature'] });
    } else if (block['type'] === 'server_tool_use' || block['type'] === 'mcp_tool_use')
      calls.push(readToolUse({ ...block, name: earlierName(block) }, at));
    else if (block['type'] === 'tool_use') calls.push(marked(block, readToolUse(block, at)));
    else if (block['type'] === 'redacted_thinking')
      details.push({ type: 'redacted_thinking', data: asText(block['data'], `${at}.data`) });
    else throw invalid(`${at}.type`, `${at}.type must be text, thinking, tool_use, or a block of a server tool of this node.`);
  }
  const content = plainIfText(texts, '');
  if (content !== '' || calls.length === 0) message['content'] = content;
  if (calls.length > 0) message['tool_calls'] = calls;
  if (reasoning !== '') message['reasoning_content'] = reasoning;
  if (details.length > 0) message['reasoning_details'] = details;
  return message;
}

function readToolUse(block: Members, param: string): Members {
  const input = asMembers(block['input'], `${param}.input`);
  return {
    id: asText(block['id'], `${param}.id`),
    type: 'function',
    function: { name: asText(block['name'], `${param}.name`), arguments: JSON.stringify(input) },
  };
}

/** Tool results become messages of their own, in order; what lies between them stays a user message. */
function addUserBlocks(messages: Members[], role: string, blocks: Members[], param: string, media: RequestMedia): void {
  let parts: Members[] = [];
  const flush = () => {
    if (parts.length > 0) messages.push({ role, content: plainIfText(parts) });
    parts = [];
  };
  for (const [index, block] of blocks.entries()) {
    const at = `${param}[${index}]`;
    if (block['type'] === 'tool_result') {
      flush();
      messages.push(marked(block, toolResult(block, at, media)));
    } else parts.push(marked(block, readPart(block, at, media)));
  }
  flush();
}

function toolResult(block: Members, param: string, media: RequestMedia): Members {
  const content = block['content'];
  const id = asText(block['tool_use_id'], `${param}.tool_use_id`);
  if (content === undefined || content === null || typeof content === 'string') {
    return { role: 'tool', tool_call_id: id, content: content ?? '' };
  }
  if (!Array.isArray(content)) throw invalid(`${param}.content`, `${param}.content must be a string or an array of blocks.`);
  const parts = content.map((part, index) => {
    const block = asMembers(part, `${param}.content[${index}]`);
    return marked(block, readPart(block, `${param}.content[${index}]`, media));
  });
  return { role: 'tool', tool_call_id: id, content: plainIfText(parts) };
}

/** A mark of a provider's prompt cache stays where it is; the engine, which caches all prefixes, passes it over. */
function marked(block: Members, read: Members): Members {
  const mark = block['cache_control'];
  return isMembers(mark) ? { ...read, cache_control: mark } : read;
}

function plainIfText(parts: Members[], separator = '\n'): string | Members[] {
  return parts.every((part) => part['type'] === 'text' && part['cache_control'] === undefined)
    ? parts.map((part) => part['text']).join(separator)
    : parts;
}

function readPart(block: Members, param: string, media: RequestMedia): Members {
  if (block['type'] === 'text') return { type: 'text', text: asText(block['text'], `${param}.text`) };
  if (block['type'] === 'image')
    return { type: 'image_url', image_url: { url: readImage(asMembers(block['source'], `${param}.source`), param, media) } };
  throw invalid(`${param}.type`, `${param}.type must be text, image or tool_result; documents are not served here.`);
}

function readImage(source: Members, param: string, media: RequestMedia): string {
  if (source['type'] === 'base64') return media.addImage(asText(source['data'], `${param}.source.data`), `${param}.source.data`);
  if (source['type'] === 'url') return media.addImageUrl(asText(source['url'], `${param}.source.url`), `${param}.source.url`);
  throw invalid(`${param}.source.type`, `${param}.source.type must be base64 or url.`);
}

/** Input items of the Responses API -> chat messages. */

import { wireName } from '../../../../platform/tools/tool.ts';
import { invalid } from '../../errors.ts';
import { resultMessage } from '../../tools/tool-messages.ts';
import { asMembers, asText, isMembers, type Members } from '../members.ts';
import { mcpToolName } from './hosted/hosted-tools.ts';

/** The lists in the chat API's shape; readMessages checks the parts. `earlier` are the items of the responses that this one continues. */
export function itemsToMessages(
  earlier: readonly Members[],
  input: string | readonly unknown[],
  instructions: string | null | undefined,
): Members[] {
  const messages: Members[] = instructions ? [{ role: 'system', content: instructions }] : [];
  const given = typeof input === 'string' ? [] : input.map((value, index) => asMembers(value, `input[${index}]`));
  const all = [...earlier, ...given];
  for (const item of earlier) addItem(messages, item, 'previous_response_id', all);
  if (typeof input === 'string') return [...messages, { role: 'user', content: input }];
  for (const [index, item] of given.entries()) addItem(messages, item, `input[${index}]`, all);
  return messages;
}

function addItem(messages: Members[], item: Members, param: string, all: readonly Members[]): void {
  switch (item['type'] ?? 'message') {
    case 'message':
      addMessage(messages, asText(item['role'], `${param}.role`), readContent(item['content'], `${param}.content`));
      return;
    case 'function_call':
      assistantTurn(messages)['tool_calls'] = [...earlierCalls(messages), readCall(item, param)];
      return;
    case 'function_call_output':
      messages.push({
        role: 'tool',
        tool_call_id: asText(item['call_id'], `${param}.call_id`),
        content: readOutput(item['output'], `${param}.output`),
      });
      return;
    case 'reasoning':
      addReasoning(messages, item);
      return;
    case 'mcp_call':
      // Where it was asked about, it stands at the place of the question.
      if (!all.some(({ type, id }) => type === 'mcp_approval_request' && id === item['approval_request_id']))
        addMcpCall(messages, item, param, resultOf(item));
      return;
    case 'mcp_approval_request':
      addMcpCall(messages, item, param, decisionOf(item, all));
      return;
    case 'mcp_approval_response':
      readDecision(item, param, all);
      return;
    // What was found for an earlier answer is searched anew for this one, and the lists of tools are those of today.
    case 'file_search_call':
    case 'web_search_call':
    case 'mcp_list_tools':
      return;
    default:
      throw invalid(
        `${param}.type`,
        `${param}.type must be message, function_call, function_call_output, reasoning, file_search_call, web_search_call, mcp_list_tools, mcp_call, mcp_approval_request or mcp_approval_response.`,
      );
  }
}

/** Text behind reasoning belongs to the same turn. */
function addMessage(messages: Members[], role: string, content: unknown): void {
  const last = messages.at(-1);
  const isSameTurn = role === 'assistant' && last?.['role'] === role && last['content'] === null && !last['tool_calls'];
  if (isSameTurn) last['content'] = content;
  else messages.push({ role, content });
}

/** The call as the model made it, and what came of it. */
function addMcpCall(messages: Members[], item: Members, param: string, result: Members): void {
  const [label, name, id, given] = (['server_label', 'name', 'id', 'arguments'] as const).map((member) =>
    asText(item[member], `${param}.${member}`),
  ) as [string, string, string, string];
  if (!isJson(given)) throw invalid(`${param}.arguments`, `${param}.arguments must be a string of JSON.`);
  const call = { id, type: 'function', function: { name: wireName(mcpToolName({ label, name })), arguments: given } };
  assistantTurn(messages)['tool_calls'] = [...earlierCalls(messages), call];
  messages.push(resultMessage({ id, value: result, isUntrusted: true }));
}

function resultOf({ output, error }: Members): Members {
  return typeof output === 'string' ? { output } : { error: error ?? 'Nothing is known of what came of the call.' };
}

/** The place of the result of a call that is approved now is kept until it is made. */
function decisionOf({ id }: Members, all: readonly Members[]): Members {
  const made = all.find((each) => each['type'] === 'mcp_call' && each['approval_request_id'] === id);
  if (made !== undefined) return resultOf(made);
  const decided = all.find((each) => each['type'] === 'mcp_approval_response' && each['approval_request_id'] === id);
  if (decided === undefined) return { error: 'Nobody has decided about the call.' };
  if (decided['approve'] === true) return { error: 'Nothing is known of what came of the call.' };
  const { reason } = decided;
  return { error: `The person denied the call${typeof reason === 'string' ? `: ${reason.slice(0, 1_000)}` : '.'}` };
}

function readDecision(item: Members, param: string, all: readonly Members[]): void {
  const id = asText(item['approval_request_id'], `${param}.approval_request_id`);
  if (typeof item['approve'] !== 'boolean') throw invalid(`${param}.approve`, `${param}.approve must be a boolean.`);
  if (all.some((each) => each['type'] === 'mcp_approval_request' && each['id'] === id)) return;
  throw invalid(`${param}.approval_request_id`, `${param}.approval_request_id names no mcp_approval_request that came before.`);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Calls and reasoning belong to one assistant message, however many items they came in. */
function assistantTurn(messages: Members[]): Members {
  const last = messages.at(-1);
  if (last?.['role'] === 'assistant') return last;
  const turn: Members = { role: 'assistant', content: null };
  messages.push(turn);
  return turn;
}

function earlierCalls(messages: Members[]): unknown[] {
  return (messages.at(-1)?.['tool_calls'] as unknown[] | undefined) ?? [];
}

function readCall(item: Members, param: string): Members {
  return {
    id: asText(item['call_id'], `${param}.call_id`),
    type: 'function',
    function: { name: asText(item['name'], `${param}.name`), arguments: asText(item['arguments'], `${param}.arguments`) },
  };
}

/** Encrypted content is what a provider has signed or hidden; where it is not ours, it holds nothing to hand on. */
function addReasoning(messages: Members[], item: Members): void {
  const parts = Array.isArray(item['content']) ? (item['content'] as unknown[]) : [];
  const text = parts.map((part) => String((part as Members | null)?.['text'] ?? '')).join('');
  const details = readDetails(item['encrypted_content']);
  if (text === '' && details === undefined) return;
  messages.push({
    role: 'assistant',
    content: null,
    reasoning_content: text,
    ...(details !== undefined && { reasoning_details: details }),
  });
}

function readDetails(content: unknown): unknown[] | undefined {
  if (typeof content !== 'string') return undefined;
  try {
    const details = JSON.parse(Buffer.from(content, 'base64').toString()) as unknown;
    return Array.isArray(details) && details.every((one) => isMembers(one) && typeof one['type'] === 'string')
      ? details
      : undefined;
  } catch {
    return undefined;
  }
}

function readOutput(output: unknown, param: string): unknown {
  return typeof output === 'string' ? output : readContent(output, param);
}

function readContent(content: unknown, param: string): unknown {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) throw invalid(param, `${param} must be a string or an array of parts.`);
  return content.map((part, index) => readPart(asMembers(part, `${param}[${index}]`), `${param}[${index}]`));
}

function readPart(part: Members, param: string): Members {
  switch (part['type']) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: asText(part['text'], `${param}.text`) };
    case 'refusal':
      return { type: 'refusal', refusal: asText(part['refusal'], `${param}.refusal`) };
    case 'input_image':
      return { type: 'image_url', image_url: { url: asText(part['image_url'], `${param}.image_url`) } };
    case 'input_audio':
      return { type: 'input_audio', input_audio: asMembers(part['input_audio'], `${param}.input_audio`) };
    default:
      throw invalid(
        `${param}.type`,
        `${param}.type must be input_text, output_text, input_image, input_audio, input_file or refusal.`,
      );
  }
}

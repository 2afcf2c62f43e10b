/** A gathered answer -> the output items of a response. */
import type { Choice } from '../../completion/answer-collector.ts';
import { identifier } from '../identifier.ts';
import { callItem, messageItem, type OutputItem, reasoningItem, textPart } from './response-object.ts';

export function outputItems({ content, reasoning, toolCalls, logprobs, finish }: Choice): OutputItem[] {
  const items: OutputItem[] = [];
  if (reasoning !== '') items.push(reasoningItem(identifier('rs_'), 'completed', reasoning));
  if (content !== '' || toolCalls.length === 0)
    items.push(messageItem(identifier('msg_'), 'completed', [textPart(content, logprobs)]));
  for (const call of toolCalls) items.push(callItem(identifier('fc_'), 'completed', call.id, call.name, call.arguments));
  const last = items.at(-1);
  if (last && finish === 'length') last.status = 'incomplete';
  return items;
}

/** A gathered answer -> the output items of a response. */
import type { Choice } from '../../answer/answer-collector.ts';
import type { AnswerFilters } from '../../knowledge/answer-filters.ts';
import { identifier } from '../members.ts';
import type { MadeSearch } from './file-search/file-search.ts';
import { fileCitations, searchItem } from './file-search/search-item.ts';
import { callItem, messageItem, type OutputItem, reasoningItem, textPart } from './response-object.ts';

export function outputItems(
  { content, reasoning, toolCalls, logprobs, finish }: Choice,
  annotations: readonly object[] = [],
): OutputItem[] {
  const items: OutputItem[] = [];
  if (reasoning !== '') items.push(reasoningItem(identifier('rs_'), 'completed', reasoning));
  if (content !== '' || toolCalls.length === 0)
    items.push(messageItem(identifier('msg_'), 'completed', [textPart(content, logprobs, annotations)]));
  for (const call of toolCalls) items.push(callItem(identifier('fc_'), 'completed', call.id, call.name, call.arguments));
  const last = items.at(-1);
  if (last && finish === 'length') last.status = 'incomplete';
  return items;
}

/** The search, and the answer with the citations that hold. */
export function searchedOutput(search: MadeSearch, filters: AnswerFilters, choices: readonly Choice[]): OutputItem[] {
  const items = choices.flatMap((choice, i) => outputItems(choice, fileCitations(filters.citedBy(i))));
  return [searchItem(search), ...items];
}

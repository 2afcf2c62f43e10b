/** A search as an output item with its events, and citations of files as annotations. Source: OpenAI API reference, Responses. */
import type { CheckedCitations, Citation } from '../../../../data/index.ts';
import type { AnswerFilters } from '../../../knowledge/answer-filters.ts';
import { unindexedMember } from '../../../knowledge/citations.ts';
import { identifier } from '../../members.ts';
import type { Emit } from '../open-item.ts';
import type { OutputItem } from '../response-object.ts';
import type { MadeSearch } from './file-search.ts';

type Claim = NonNullable<Citation['unsupported']>[number];

interface FileCitation {
  readonly type: 'file_citation';
  readonly file_id: string;
  readonly filename: string;
  /** The mark's place in the text. */
  readonly index: number;
  /** Ours: names, numbers, dates and units of the sentences that cite it which their passages do not say, with their places in the text. */
  readonly unsupported?: readonly Claim[];
}

export function searchItem({ context, includesResults }: MadeSearch): OutputItem {
  const results = context.found.map(({ fileId, fileName, score, text, attributes }) => ({
    file_id: fileId,
    filename: fileName,
    score: Math.round(score * 1e6) / 1e6,
    text,
    attributes,
  }));
  return {
    id: identifier('fs_'),
    type: 'file_search_call',
    status: 'completed',
    queries: [context.query],
    results: includesResults ? results : null,
    ...unindexedMember(context.unindexed),
  };
}

/** The search was made before the stream opened, so its events come at once. */
export function emitSearch(emit: Emit, item: OutputItem, outputIndex: number): void {
  const place = { item_id: item.id, output_index: outputIndex };
  emit('response.output_item.added', { output_index: outputIndex, item: { ...item, status: 'in_progress', results: null } });
  for (const state of ['in_progress', 'searching', 'completed']) emit(`response.file_search_call.${state}`, place);
  emit('response.output_item.done', { output_index: outputIndex, item });
}

/** Makes the citations of the message that begins at `start` of all that the model said. */
export function fileCitations({ citations, marks }: CheckedCitations, start = 0): FileCitation[] {
  const byNumber = new Map(citations.map((citation) => [citation.n, citation]));
  return marks.flatMap((mark) => {
    const citation = byNumber.get(mark.n);
    if (citation === undefined || mark.start < start) return [];
    const { fileId, source, unsupported = [] } = citation;
    const claims = unsupported.filter((claim) => claim.start >= start);
    const place = { type: 'file_citation' as const, file_id: fileId, filename: source, index: mark.start - start };
    return [claims.length === 0 ? place : { ...place, unsupported: claims.map((claim) => movedBack(claim, start)) }];
  });
}

const movedBack = ({ text, start, end }: Claim, by: number): Claim => ({ text, start: start - by, end: end - by });

/** A search as an encoder writes it. */
export interface ToldSearch {
  readonly item: OutputItem;
  /** Citations in the text behind `start`. */
  annotations(start: number): FileCitation[];
}

export function toldSearch(search: MadeSearch, filters: AnswerFilters): ToldSearch {
  return { item: searchItem(search), annotations: (start) => fileCitations(filters.citedBy(0), start) };
}

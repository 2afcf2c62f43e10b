/** The passage behind a number of an answer, in the document that it stands in, at its place. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { Dialog } from '../../design/dialog.tsx';
import { formatNumber } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { ownTenant } from '../knowledge/bases.ts';
import { shownCitation } from '../markdown/citation-choice.ts';
import type { Citation } from '../thread/message.ts';

export function CitationPanel() {
  const citation = shownCitation.value;
  return citation === undefined ? null : <Panel key={`${citation.document_id} ${citation.n}`} citation={citation} />;
}

/** Minutes and seconds of a place in a recording. */
function clockOf(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;
}

interface Surroundings {
  before: string;
  behind: string;
}

function Panel({ citation }: { citation: Citation }) {
  const { n, source, page, sheet, slide, start_seconds: from, text, score } = citation;
  const [around, setAround] = useState<Surroundings | undefined>();
  const mark = useRef<HTMLElement>(null);
  useEffect(() => {
    // A document that was deleted since, or that the reader may not see, leaves the passage alone.
    fetchSurroundings(citation).then(setAround, () => undefined);
  }, []);
  useEffect(() => mark.current?.scrollIntoView({ block: 'center' }), [around]);
  // The files of a conversation are shown to its owner alone.
  const isHidden = text === '';
  const place = [
    page === undefined ? '' : t('page', { n: page }),
    slide === undefined ? '' : t('slide', { n: slide }),
    sheet ?? '',
    from === undefined ? '' : clockOf(from),
    typeof score === 'number' ? t('score', { score: formatNumber(score, 2) }) : '',
  ];
  return (
    <Dialog title={t('source_number', { n, source })} wide onClose={() => (shownCitation.value = undefined)}>
      <p class="small quiet">{place.filter(Boolean).join(' · ')}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <blockquote class="passage" tabIndex={0}>
        {isHidden && <span class="quiet">{t('passage_private')}</span>}
        {around?.before}
        <mark ref={mark}>{text}</mark>
        {around?.behind}
      </blockquote>
    </Dialog>
  );
}

/** Undefined where the document's text is not as it was when it was cited. */
async function fetchSurroundings(citation: Citation): Promise<Surroundings | undefined> {
  const { start, text } = citation;
  if (start === undefined || !Number.isSafeInteger(start) || start < 0) return undefined;
  const found = await fetchText(citation, start);
  if (found === undefined) return undefined;
  const at = start - found.text_start;
  if (found.text.slice(at, at + text.length) !== text) return undefined;
  return { before: found.text.slice(0, at), behind: found.text.slice(at + text.length) };
}

async function fetchText({ namespace, conversation_id: conversation, document_id: id }: Citation, around: number) {
  if (conversation !== undefined)
    return await call('GET /api/v1/edge/conversations/files/{file_id}', {
      params: { file_id: id },
      query: { id: conversation, around },
    });
  if (namespace === undefined) return undefined;
  return await call('GET /api/v1/vector/documents/{tenant}/{namespace}/{id}', {
    params: { tenant: ownTenant(), namespace, id },
    query: { around },
  });
}

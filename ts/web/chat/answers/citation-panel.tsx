/** The passage behind a number of an answer, in the document that it stands in, at its place. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { addressOf, call } from '../../api/call.ts';
import { Dialog } from '../../design/dialog.tsx';
import { formatClock, formatNumber } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { ownTenant } from '../knowledge/bases.ts';
import { shownCitation } from '../markdown/citation-choice.ts';
import type { Citation } from '../thread/message.ts';

export function CitationPanel() {
  const citation = shownCitation.value;
  return citation === undefined ? null : <Panel key={`${citation.document_id} ${citation.n}`} citation={citation} />;
}

/** Stored answers are not trusted: what others sent may be anything. */
function isSeconds(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value < 1e7;
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
    isSeconds(from) ? formatClock(from) : '',
    typeof score === 'number' ? t('score', { score: formatNumber(score, 2) }) : '',
  ];
  return (
    <Dialog title={t('source_number', { n, source })} wide onClose={() => (shownCitation.value = undefined)}>
      <p class="small quiet">{place.filter(Boolean).join(' · ')}</p>
      {!isHidden && isSeconds(from) && <CitedRecording citation={citation} from={from} />}
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

const FILM = /\.(mp4|m4v|mov|webm|mkv|avi|mpe?g)$/i;

/** The recording behind a passage, at the place where it is said. */
function CitedRecording({ citation, from }: { citation: Citation; from: number }) {
  const [isGone, setGone] = useState(false);
  const { source, text, end_seconds: to = from } = citation;
  const captions = useMemo(() => URL.createObjectURL(new Blob([captionsOf(text, from, to)], { type: 'text/vtt' })), []);
  useEffect(() => () => URL.revokeObjectURL(captions), []);
  const address = recordingAddress(citation);
  if (isGone || address === undefined) return null;
  const media = {
    class: 'recording',
    controls: true,
    preload: 'metadata' as const,
    'aria-label': t('recording', { source }),
    src: `${address}#t=${from}`,
    // A recording that was deleted since, or that the reader may not have, leaves the passage alone.
    onError: () => setGone(true),
  };
  const track = <track kind="captions" src={captions} label={t('captions')} default />;
  return FILM.test(source) ? <video {...media}>{track}</video> : <audio {...media}>{track}</audio>;
}

/** WebVTT (W3C) of one passage. */
function captionsOf(text: string, from: number, to: number): string {
  const time = (seconds: number): string => new Date(Math.round(seconds * 1000)).toISOString().slice(11, 23);
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replace(/\s+/g, ' ');
  return `WEBVTT\n\n${time(from)} --> ${time(to)}\n${escaped}\n`;
}

function recordingAddress({ namespace, conversation_id: conversation, document_id: id }: Citation): string | undefined {
  if (conversation !== undefined)
    return addressOf('/api/v1/edge/conversations/files/{file_id}/content', {
      params: { file_id: id },
      query: { id: conversation },
    });
  if (namespace === undefined) return undefined;
  const params = { tenant: ownTenant(), namespace, id };
  return addressOf('/api/v1/vector/documents/{tenant}/{namespace}/{id}/content', { params });
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

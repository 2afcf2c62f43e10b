/** Documents that an answer stands on, below it. */
import { t } from '../../i18n/language.ts';
import { showCitation } from '../markdown/citation-choice.ts';
import type { Citation } from '../thread/message.ts';

export function AnswerSources({ citations }: { citations: readonly Citation[] }) {
  if (citations.length === 0) return null;
  return (
    <ul class="sources" aria-label={t('sources')}>
      {citations.map((citation) => (
        <li key={citation.n}>
          <button type="button" class="source" onClick={() => showCitation(citation)}>
            <span class="citation-number">{citation.n}</span>
            {citation.source}
            {citation.page !== undefined && <span class="quiet">{t('page', { n: citation.page })}</span>}
          </button>
        </li>
      ))}
    </ul>
  );
}

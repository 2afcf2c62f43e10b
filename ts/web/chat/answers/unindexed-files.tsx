/** Files of the knowledge bases that an answer was looked up in, and that no search finds: what they say cannot be in it. */
import { Notice } from '../../design/notice.tsx';
import { t } from '../../i18n/language.ts';
import { unindexedOf } from '../thread/message.ts';

export function UnindexedFiles({ found }: { found: unknown }) {
  const unindexed = unindexedOf(found);
  if (unindexed === undefined || unindexed.count === 0) return null;
  const { count, files } = unindexed;
  return (
    <Notice>
      <details class="unindexed">
        <summary>{t('unindexed_count', { count })}</summary>
        <ul>
          {files.map(({ source, detail }) => (
            <li key={source} class="breakable">
              <strong>{source}</strong> <span class="quiet">{detail}</span>
            </li>
          ))}
        </ul>
      </details>
    </Notice>
  );
}

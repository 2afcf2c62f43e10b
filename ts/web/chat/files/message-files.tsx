/** Files of a question that was asked. */
import { Icon } from '../../design/icon.tsx';
import { t } from '../../i18n/language.ts';
import type { QuestionFacts } from '../thread/message.ts';

export function MessageFiles({ facts: { files, images } }: { facts: Required<QuestionFacts> }) {
  if (files.length + images.length === 0) return null;
  return (
    <ul class="message-files" aria-label={t('files')}>
      {images.map((address) => (
        <li key={address.slice(-64)}>
          <img src={address} alt={t('picture')} />
        </li>
      ))}
      {files.map(({ name, namespace, state, detail }) => (
        <li class="file-chip" key={`${namespace}/${name}`}>
          <Icon name="file" />
          <span class="file-name">
            {name}
            <span class="small quiet">{state === 'stored' ? (detail ?? t('stored_only')) : namespace}</span>
          </span>
        </li>
      ))}
    </ul>
  );
}

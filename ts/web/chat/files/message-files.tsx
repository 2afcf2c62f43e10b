/** Files of a question that was asked. */
import { Icon } from '../../design/icon.tsx';
import { t } from '../../i18n/language.ts';
import type { QuestionFacts } from '../thread/message.ts';
import { conversation } from '../thread/shown-thread.ts';
import { KeepButton } from './keep-button.tsx';

export function MessageFiles({ facts: { files, images } }: { facts: Required<QuestionFacts> }) {
  if (files.length + images.length === 0) return null;
  return (
    <ul class="message-files" aria-label={t('files')}>
      {images.map((address) => (
        <li key={address.slice(-64)}>
          <img src={address} alt={t('picture')} />
        </li>
      ))}
      {files.map(({ name, namespace, state, detail, document_id: id }) => (
        <li class="file-chip" key={id ?? name}>
          <Icon name="file" />
          <span class="file-name">
            {name}
            <span class="small quiet">
              {state === 'stored' ? (detail ?? t('stored_only')) : (namespace ?? t('in_this_chat'))}
            </span>
          </span>
          {namespace === undefined && <KeepButton name={name} conversationId={conversation.value?.id} fileId={id} />}
        </li>
      ))}
    </ul>
  );
}

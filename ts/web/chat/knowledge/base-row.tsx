/** A knowledge base in the list of them. */
import { Button } from '../../design/button.tsx';
import { confirmed } from '../../design/confirm.tsx';
import { Switch } from '../../design/switch.tsx';
import { formatBytes } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { hasRole } from '../../session/session.ts';
import { type Base, removeBase } from './bases.ts';

interface BaseRowProps {
  base: Base;
  isChosen: boolean;
  onChoose(isChosen: boolean): void;
  onOpen(): void;
  onFailure(error: unknown): void;
}

export function BaseRow({ base, isChosen, onChoose, onOpen, onFailure }: BaseRowProps) {
  const { namespace, documents, bytes } = base;
  const remove = async (): Promise<void> => {
    if (!(await confirmed(t('delete'), t('knowledge_delete_detail', { name: namespace, count: documents }), t('delete')))) return;
    onChoose(false);
    await removeBase(namespace);
  };
  return (
    <li>
      <Switch label={namespace} checked={isChosen} onChange={onChoose} />
      <span class="small quiet push">
        {t('documents_count', { count: documents })} · {formatBytes(bytes)}
      </span>
      <Button size="small" look="plain" onClick={onOpen}>
        {t('documents')}
        <span class="unseen"> {namespace}</span>
      </Button>
      {hasRole('developer') && (
        <Button
          size="small"
          icon="trash"
          label={t('delete_named', { title: namespace })}
          onClick={() => void remove().catch(onFailure)}
        />
      )}
    </li>
  );
}

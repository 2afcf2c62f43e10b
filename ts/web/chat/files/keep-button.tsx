/** Asks into which knowledge base a file of a conversation goes as well: that everyone finds it is a step of its own. */
import { Button } from '../../design/button.tsx';
import { t } from '../../i18n/language.ts';
import { hasRole } from '../../session/session.ts';
import { keptFile } from '../dialogs.ts';

interface KeepButtonProps {
  name: string;
  conversationId: string | undefined;
  /** Undefined: the server does not have it yet. */
  fileId: string | undefined;
}

export function KeepButton({ name, conversationId, fileId }: KeepButtonProps) {
  if (conversationId === undefined || fileId === undefined || !hasRole('developer')) return null;
  const ask = (): void => {
    keptFile.value = { name, conversationId, fileId };
  };
  return <Button size="small" icon="book" label={t('keep_file', { name })} onClick={ask} />;
}

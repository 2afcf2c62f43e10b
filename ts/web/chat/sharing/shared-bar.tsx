/** The bar that is in the place of the composer, below a conversation of somebody else. */
import { useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { showToast } from '../../design/toasts.tsx';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { navigateTo } from '../location.ts';
import { loadConversations } from '../sidebar/conversation-list.ts';
import { copyShared, type SharedThread } from './shared-thread.ts';

export function SharedBar({ thread }: { thread: SharedThread }) {
  const [isBusy, setBusy] = useState(false);
  const copy = async (): Promise<void> => {
    setBusy(true);
    try {
      const id = await copyShared(thread);
      await loadConversations();
      navigateTo(id);
    } catch (error) {
      showToast(explain(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <div class="shared-bar" role="note">
      <span class="small">{t('shared_detail')}</span>
      <Button class="push" look="main" icon="copy" busy={isBusy} onClick={() => void copy()}>
        {t('shared_copy')}
      </Button>
    </div>
  );
}

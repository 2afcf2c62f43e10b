/** Links to a conversation, for others of the tenant: made, copied, taken back. */
import { useEffect, useState } from 'preact/hooks';
import { type Answer, call } from '../../api/call.ts';
import { Button } from '../../design/button.tsx';
import { copyText } from '../../design/clipboard.ts';
import { Dialog } from '../../design/dialog.tsx';
import { Notice } from '../../design/notice.tsx';
import { formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { shareDialog } from '../dialogs.ts';
import type { Conversation } from '../thread/message.ts';

type Share = Answer<'GET /api/v1/edge/conversations/shares'>['data'][number];

export function ShareDialog({ conversation }: { conversation: Conversation }) {
  const [shares, setShares] = useState<readonly Share[]>([]);
  const [error, setError] = useState<unknown>();
  const { id } = conversation;
  const load = async (): Promise<void> => {
    setShares((await call('GET /api/v1/edge/conversations/shares', { query: { id } })).data);
  };
  useEffect(() => void load().catch(setError), [id]);
  const attempt = (work: Promise<unknown>): void => {
    setError(undefined);
    work.then(load).catch(setError);
  };
  return (
    <Dialog title={t('share')} onClose={() => (shareDialog.value = undefined)}>
      <p class="small quiet">{t('share_detail')}</p>
      {error !== undefined && <Notice tone="danger">{explain(error)}</Notice>}
      <ul class="shares">
        {shares.map(({ share, path, created_at: createdAt }) => (
          <li key={share}>
            <code class="address">{new URL(path, location.href).href}</code>
            <div class="row">
              <span class="small quiet">{formatTime(createdAt)}</span>
              <Button class="push" size="small" icon="copy" onClick={() => copyText(new URL(path, location.href).href)}>
                {t('copy_link')}
              </Button>
              <Button
                size="small"
                icon="close"
                onClick={() => attempt(call('DELETE /api/v1/edge/conversations/share', { query: { share } }))}
              >
                {t('share_end')}
              </Button>
            </div>
          </li>
        ))}
      </ul>
      <div class="buttons">
        <Button
          look="main"
          icon="link"
          data-first
          onClick={() => attempt(call('POST /api/v1/edge/conversations/share', { body: { id } }))}
        >
          {t('share_make')}
        </Button>
      </div>
    </Dialog>
  );
}

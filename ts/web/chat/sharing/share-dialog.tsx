/** Links to a conversation. */
import { call } from '../../api/call.ts';
import { t } from '../../i18n/language.ts';
import { shareDialog } from '../dialogs.ts';
import type { Conversation } from '../thread/message.ts';
import { LinksDialog } from './links-dialog.tsx';

export function ShareDialog({ conversation: { id } }: { conversation: Conversation }) {
  return (
    <LinksDialog
      key={id}
      detail={t('share_detail')}
      list={async () => (await call('GET /api/v1/edge/conversations/shares', { query: { id } })).data}
      make={() => call('POST /api/v1/edge/conversations/share', { body: { id } })}
      end={(share) => call('DELETE /api/v1/edge/conversations/share', { query: { share } })}
      onClose={() => (shareDialog.value = undefined)}
    />
  );
}

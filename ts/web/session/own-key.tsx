/** Makes the reader's API key anew, and shows it this once. */
import { signal } from '@preact/signals';
import { call } from '../api/call.ts';
import { confirmed } from '../design/confirm.tsx';
import { Dialog } from '../design/dialog.tsx';
import { Notice } from '../design/notice.tsx';
import { Secret } from '../design/secret.tsx';
import { t } from '../i18n/language.ts';

const newKey = signal<string | undefined>(undefined);

/** Throws Refusal: `several_keys` where the account has more than one, each with its place in the console. */
export async function resetOwnKey(): Promise<void> {
  if (!(await confirmed(t('own_key_reset'), t('own_key_reset_detail'), t('own_key_reset')))) return;
  newKey.value = (await call('POST /api/v1/users/me/api-key')).api_key;
}

export function OwnKeyDialog() {
  if (newKey.value === undefined) return null;
  return (
    <Dialog title={t('own_key')} onClose={() => (newKey.value = undefined)} closesOutside={false}>
      <Notice tone="warn">{t('own_key_once')}</Notice>
      <Secret value={newKey.value} />
    </Dialog>
  );
}

/** Columns of API keys, how one is revoked, and the list of somebody's for an administrator. */
import { type Answer, call } from '../api/call.ts';
import { Dialog } from '../design/dialog.tsx';
import { formatTime } from '../i18n/format.ts';
import { t } from '../i18n/language.ts';
import { type ListSpec, type RowAction, WindowList } from './list-screen.tsx';

export type Key = Answer<'GET /api/v1/identity/keys'>['data'][number];
type Named = Pick<Key, 'id' | 'name' | 'start' | 'scopes' | 'used_at' | 'expires_at'>;

export const keyColumns = {
  name: { head: 'name', cell: ({ name }: Named) => <span class="breakable">{name}</span> },
  start: { head: 'begins_with', cell: ({ start }: Named) => <code>{start}…</code> },
  scopes: { head: 'scopes', cell: ({ scopes }: Named) => (scopes === null ? t('all_of_role') : scopes.join(', ')) },
  used: { head: 'last_used', cell: ({ used_at: at }: Named) => formatTime(at) },
  expires: { head: 'expires', cell: ({ expires_at: at }: Named) => (at === null ? t('never') : formatTime(at)) },
} as const;

export function revokeKey<Row>({ id, name }: Named, detail = t('revoke_key_detail', { name })): RowAction<Row> {
  return {
    text: t('revoke'),
    label: t('revoke_named', { name }),
    isDangerous: true,
    question: [t('revoke_key'), detail, t('revoke')],
    run: () => call('DELETE /api/v1/identity/keys/{id}', { params: { id } }),
    done: t('key_revoked', { name }),
  };
}

const { name, start, scopes, used, expires } = keyColumns;

export function UserKeysDialog({ user, onClose }: { user: { id: string; username: string }; onClose(): void }) {
  const title = t('keys_of', { name: user.username });
  const spec: ListSpec<Key, undefined> = {
    title: 'api_keys',
    load: (page) => call('GET /api/v1/identity/keys', { query: { ...page, user: user.id } }),
    keyOf: ({ id }) => id,
    empty: { icon: 'key', title: 'no_keys' },
    columns: [name, start, { head: 'id', cell: ({ id }) => <code class="small">{id}</code> }, scopes, used, expires],
    buttons: (key) => [revokeKey(key)],
  };
  return (
    <Dialog title={title} wide onClose={onClose}>
      <WindowList spec={spec} label={title} />
    </Dialog>
  );
}

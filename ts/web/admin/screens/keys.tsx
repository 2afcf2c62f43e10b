import { call } from '../../api/call.ts';
import { formatTime } from '../../i18n/format.ts';
import { KeyDialog } from '../key-dialog.tsx';
import { type Key, keyColumns, revokeKey } from '../key-list.tsx';
import { listScreen } from '../list-screen.tsx';

const { name, start, scopes, used, expires } = keyColumns;

export const Screen = listScreen<Key>({
  title: 'api_keys',
  detail: 'api_keys_detail',
  load: (query) => call('GET /api/v1/identity/keys', { query }),
  keyOf: ({ id }) => id,
  empty: { icon: 'key', title: 'no_keys' },
  main: { text: 'new_key', icon: 'plus', window: ({ close, reload }) => <KeyDialog onClose={close} onMade={reload} /> },
  columns: [name, start, scopes, { head: 'created', cell: ({ created_at: at }) => formatTime(at) }, used, expires],
  buttons: (key) => [revokeKey(key)],
});

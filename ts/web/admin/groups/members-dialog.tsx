/** Who is in a group; accounts of its tenant are put in by name and taken out again. */
import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Empty } from '../../design/empty.tsx';
import { Notice } from '../../design/notice.tsx';
import { TextField } from '../../design/text-field.tsx';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { attempt } from '../attempt.ts';
import { roleName } from '../role-name.ts';
import { useRows } from '../use-rows.ts';
import type { Group } from './group-dialog.tsx';

interface MembersDialogProps {
  group: Group;
  onClose(): void;
  onChanged(): Promise<void>;
}

export function MembersDialog({ group, onClose, onChanged }: MembersDialogProps) {
  const params = { id: group.id };
  const members = useRows((query) => call('GET /api/v1/identity/groups/{id}/members', { params, query }));
  const [name, setName] = useState('');
  const [wrong, setWrong] = useState<string>();
  const changed = async (): Promise<void> => {
    await Promise.all([members.reload(), onChanged()]);
  };
  const add = async (event: Event): Promise<void> => {
    event.preventDefault();
    setWrong(undefined);
    try {
      const { data } = await call('GET /api/v1/identity/users', { query: { username: name.trim(), limit: 1 } });
      const [user] = data;
      if (user === undefined) {
        setWrong(t('no_such_account', { name: name.trim() }));
        return;
      }
      await call('POST /api/v1/identity/groups/{id}/members', { params, body: { users: [user.id] } });
      setName('');
      await changed();
    } catch (error) {
      setWrong(explain(error));
    }
  };
  const remove = async (user: string): Promise<void> => {
    await attempt(() => call('DELETE /api/v1/identity/groups/{id}/members/{user}', { params: { ...params, user } }));
    await changed();
  };
  const { rows, more } = members;
  return (
    <Dialog title={t('members_of', { name: group.name })} onClose={onClose} closesOutside={false}>
      <form class="stack" onSubmit={(event) => void add(event)}>
        <TextField
          label={t('username')}
          value={name}
          onInput={setName}
          wrong={wrong}
          required
          maxLength={64}
          autocomplete="off"
        />
        <div class="buttons">
          <Button look="main" type="submit" icon="plus">
            {t('add_member')}
          </Button>
        </div>
      </form>
      {members.error !== undefined && <Notice tone="danger">{explain(members.error)}</Notice>}
      {rows?.length === 0 && <Empty icon="users" title={t('no_members')} />}
      {rows !== undefined && rows.length > 0 && (
        <ul class="plain-list" aria-label={t('members')}>
          {rows.map(({ id, username, role }) => (
            <li key={id} class="row">
              <span class="breakable">{username}</span>
              <span class="small quiet">{roleName(role)}</span>
              <Button
                class="push"
                size="small"
                look="danger"
                aria-label={t('remove_member', { name: username })}
                onClick={() => void remove(id)}
              >
                {t('remove')}
              </Button>
            </li>
          ))}
        </ul>
      )}
      {more !== undefined && (
        <Button look="plain" onClick={more}>
          {t('more')}
        </Button>
      )}
    </Dialog>
  );
}

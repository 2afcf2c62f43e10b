import { useState } from 'preact/hooks';
import { type Answer, call } from '../../api/call.ts';
import { useData } from '../../api/use-data.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { confirmed } from '../../design/confirm.tsx';
import { Empty } from '../../design/empty.tsx';
import { Notice } from '../../design/notice.tsx';
import { SelectField } from '../../design/select-field.tsx';
import { Table } from '../../design/table.tsx';
import { TextField } from '../../design/text-field.tsx';
import { formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { hasRole } from '../../session/session.ts';
import { actorName, userNames } from '../account-names.ts';
import { attempt } from '../attempt.ts';
import { roleName } from '../role-name.ts';
import { ScreenFrame } from '../screen-frame.tsx';

type Mode = Answer<'GET /api/v1/security/enforcement'>['mode'];
const MODES: readonly Mode[] = ['stub_allow', 'audit', 'enforce'];

export function Screen() {
  const { data, error, reload } = useData(() => call('GET /api/v1/security/enforcement'));
  const [tenant, setTenant] = useState('');
  const change = async (mode: Mode | null, of: string | undefined): Promise<void> => {
    // Calls that worked a moment ago are refused from now on.
    if (mode === 'enforce' && !(await confirmed(t('enforce_title'), t('enforce_detail'), t('mode_enforce')))) return;
    await attempt(() => call('PUT /api/v1/security/enforcement', { body: { mode, tenant: of } }));
    await reload();
  };
  const mayChange = hasRole('superadmin');
  const options = MODES.map((value) => ({ value, text: t(`mode_${value}`) }));
  return (
    <ScreenFrame title={t('enforcement')} detail={t('enforcement_detail')} error={error} isLoading={data === undefined}>
      <section class="card stack">
        <SelectField
          label={t('mode_of_node')}
          hint={t(`mode_${data?.mode ?? 'stub_allow'}_detail`)}
          value={data?.mode ?? 'stub_allow'}
          options={options}
          disabled={!mayChange}
          onChange={(mode) => void change(mode, undefined).then(reload)}
        />
        {!mayChange && <Notice>{t('superadmin_changes')}</Notice>}
      </section>
      <section class="card stack" aria-label={t('modes_of_tenants')}>
        <h2>{t('modes_of_tenants')}</h2>
        <p class="small quiet">{t('modes_of_tenants_detail')}</p>
        {data !== undefined && data.tenants.length > 0 && (
          <ul class="plain-list" aria-label={t('modes_of_tenants')}>
            {data.tenants.map(({ tenant: id, mode }) => (
              <li key={id} class="row">
                <code class="breakable">{id}</code>
                <Badge tone={mode === 'enforce' ? 'good' : 'warn'}>{t(`mode_${mode}`)}</Badge>
                {mayChange && (
                  <Button
                    class="push"
                    size="small"
                    aria-label={t('mode_as_node_of', { id })}
                    onClick={() => void change(null, id)}
                  >
                    {t('mode_as_node')}
                  </Button>
                )}
              </li>
            ))}
          </ul>
        )}
        {mayChange && (
          <form
            class="row"
            onSubmit={(event) => {
              event.preventDefault();
              void change('audit', tenant).then(() => setTenant(''));
            }}
          >
            <TextField label={t('tenant')} value={tenant} onInput={setTenant} required maxLength={128} />
            <Button type="submit" look="plain" class="at-foot">
              {t('mode_audit')}
            </Button>
            <Button
              look="plain"
              class="at-foot"
              disabled={tenant === ''}
              onClick={() => void change('enforce', tenant).then(() => setTenant(''))}
            >
              {t('mode_enforce')}
            </Button>
          </form>
        )}
      </section>
      <Decisions />
    </ScreenFrame>
  );
}

/** What was denied, and what would have been. */
function Decisions() {
  const [after, setAfter] = useState<number>();
  const load = () => call('GET /api/v1/security/decisions', { query: { limit: 50, after } });
  const { data, error } = useData(load, [after]);
  const names = useData(userNames);
  const rows = data?.data ?? [];
  return (
    <section class="stack">
      <h2>{t('decisions')}</h2>
      {error !== undefined && <Notice tone="danger">{t('decisions_unread')}</Notice>}
      {data !== undefined && rows.length === 0 && (
        <Empty icon="shield" title={t('no_decisions')}>
          <span>{t('no_decisions_detail')}</span>
        </Empty>
      )}
      {rows.length > 0 && (
        <Table
          label={t('decisions')}
          rows={rows}
          keyOf={({ seq }) => String(seq)}
          columns={[
            { head: t('time'), cell: ({ at }) => formatTime(at) },
            {
              head: t('actor'),
              cell: ({ actor, role }) => <span class="breakable">{`${actorName(actor, names.data)} (${roleName(role)})`}</span>,
            },
            { head: t('tool'), cell: ({ tool }) => <code class="breakable">{tool}</code> },
            { head: t('needed_role'), cell: ({ needed_role: needed }) => roleName(needed) },
            {
              head: t('outcome'),
              cell: ({ outcome }) =>
                outcome === 'denied' ? (
                  <Badge tone="danger">{t('outcome_denied')}</Badge>
                ) : (
                  <Badge tone="warn">{t('would_be_denied')}</Badge>
                ),
            },
            { head: t('tenant'), cell: ({ tenant }) => tenant },
          ]}
        />
      )}
      <div class="row">
        {after !== undefined && <Button onClick={() => setAfter(undefined)}>{t('newest')}</Button>}
        {data?.next !== undefined && <Button onClick={() => setAfter(data.next)}>{t('older')}</Button>}
      </div>
    </section>
  );
}

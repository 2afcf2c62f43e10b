/** Limits of a tenant, of one of its accounts, or of a key. */
import { useState } from 'preact/hooks';
import { type Answer, call } from '../../api/call.ts';
import { SelectField } from '../../design/select-field.tsx';
import { TextField } from '../../design/text-field.tsx';
import { t } from '../../i18n/language.ts';
import { hasRole, who } from '../../session/session.ts';
import { FormDialog } from '../form-dialog.tsx';

export type Quota = Answer<'GET /api/v1/metering/quotas'>['data'][number];

export const LIMITS = [
  'requests_per_minute',
  'tokens_per_minute',
  'requests_per_month',
  'tokens_per_month',
  'cost_micro_per_month',
] as const;
export type LimitName = (typeof LIMITS)[number];
type Subject = 'tenant' | 'user' | 'key';

interface QuotaDialogProps {
  /** Undefined: a new one. */
  quota: Quota | undefined;
  onClose(): void;
  onSaved(): Promise<void>;
}

export function QuotaDialog({ quota, onClose, onSaved }: QuotaDialogProps) {
  const [subject, setSubject] = useState<Subject>(subjectOf(quota));
  const [tenant, setTenant] = useState(quota?.tenant ?? who.value?.tenant ?? 'default');
  const [name, setName] = useState(quota?.user ?? quota?.key ?? '');
  const [limits, setLimits] = useState<Record<LimitName, string>>({
    requests_per_minute: textOf(quota?.requests_per_minute),
    tokens_per_minute: textOf(quota?.tokens_per_minute),
    requests_per_month: textOf(quota?.requests_per_month),
    tokens_per_month: textOf(quota?.tokens_per_month),
    cost_micro_per_month: textOf(quota?.cost_micro_per_month),
  });
  const send = async (): Promise<void> => {
    const numbers = Object.fromEntries(LIMITS.map((limit) => [limit, limits[limit] === '' ? null : Number(limits[limit])]));
    const of = subject === 'tenant' ? {} : { [subject]: subject === 'user' ? await userId(name, quota) : name.trim() };
    await call('PUT /api/v1/metering/quotas', { body: { tenant, ...of, ...numbers } });
    await onSaved();
  };
  const subjects = (['tenant', 'user', 'key'] as const)
    .filter((each) => each !== 'tenant' || hasRole('superadmin'))
    .map((value) => ({ value, text: t(`usage_by_${value}`) }));
  return (
    <FormDialog title={quota === undefined ? t('new_quota') : t('edit_quota')} action={t('save')} send={send} onClose={onClose}>
      {quota === undefined && (
        <>
          <SelectField label={t('quota_of')} value={subject} options={subjects} onChange={setSubject} />
          {hasRole('superadmin') && <TextField label={t('tenant')} value={tenant} onInput={setTenant} required maxLength={128} />}
          {subject === 'user' && (
            <TextField label={t('username')} value={name} onInput={setName} required maxLength={64} autocomplete="off" />
          )}
          {subject === 'key' && (
            <TextField label={t('key_id')} hint={t('key_id_hint')} value={name} onInput={setName} required maxLength={128} />
          )}
        </>
      )}
      {LIMITS.map((limit) => (
        <TextField
          key={limit}
          label={t(`quota_${limit}`)}
          hint={t('tokens_a_minute_hint')}
          type="number"
          min={1}
          step={1}
          value={limits[limit]}
          onInput={(value) => setLimits({ ...limits, [limit]: value })}
        />
      ))}
    </FormDialog>
  );
}

function subjectOf(quota: Quota | undefined): Subject {
  if (quota === undefined) return 'user';
  if (quota.user !== null) return 'user';
  return quota.key === null ? 'tenant' : 'key';
}

function textOf(limit: number | null | undefined): string {
  return limit == null ? '' : String(limit);
}

/** A quota names an account by its id; people know names. */
async function userId(name: string, quota: Quota | undefined): Promise<string> {
  if (quota?.user != null) return quota.user;
  const { data } = await call('GET /api/v1/identity/users', { query: { username: name.trim(), limit: 1 } });
  const [user] = data;
  if (user === undefined) throw new Error(t('no_such_account', { name: name.trim() }));
  return user.id;
}

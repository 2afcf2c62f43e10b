import { useState } from 'preact/hooks';
import { USE_KINDS } from '../../client/use-kinds.ts';
import { type Answer, call } from '../api/call.ts';
import { Switch } from '../design/switch.tsx';
import { TextField } from '../design/text-field.tsx';
import { t } from '../i18n/language.ts';
import { FormDialog } from './form-dialog.tsx';

interface TenantDialogProps {
  /** Undefined: a new one. */
  tenant: Answer<'GET /api/v1/identity/tenants'>['data'][number] | undefined;
  onClose(): void;
  onSaved(): Promise<void>;
}

export function TenantDialog({ tenant, onClose, onSaved }: TenantDialogProps) {
  const [id, setId] = useState(tenant?.id ?? '');
  const [name, setName] = useState(tenant?.name ?? '');
  const [limit, setLimit] = useState(tenant?.tokens_per_minute == null ? '' : String(tenant.tokens_per_minute));
  const [priority, setPriority] = useState(tenant?.priority ?? false);
  const known = USE_KINDS.map(({ one }) => [`${one}_access`, tenant?.[`${one}_access`] ?? 'open']);
  const [access, setAccess] = useState<Readonly<Record<string, string>>>(Object.fromEntries(known));
  const send = async (): Promise<void> => {
    const named = { ...(name === '' ? {} : { name }), ...access };
    if (tenant === undefined) {
      const limited = limit === '' ? {} : { tokens_per_minute: Number(limit) };
      await call('POST /api/v1/identity/tenants', { body: { id, priority, ...named, ...limited } });
    } else {
      const body = { ...named, priority, tokens_per_minute: limit === '' ? null : Number(limit) };
      await call('PATCH /api/v1/identity/tenants/{id}', { params: { id }, body });
    }
    await onSaved();
  };
  return (
    <FormDialog title={tenant === undefined ? t('new_tenant') : t('edit')} action={t('save')} send={send} onClose={onClose}>
      <TextField
        label={t('id')}
        hint={t('tenant_id_hint')}
        value={id}
        onInput={setId}
        required
        disabled={tenant !== undefined}
        maxLength={128}
      />
      <TextField label={t('name')} value={name} onInput={setName} maxLength={200} />
      <TextField
        label={t('tokens_a_minute')}
        hint={t('tokens_a_minute_hint')}
        type="number"
        min={1}
        step={1}
        value={limit}
        onInput={setLimit}
      />
      <Switch label={t('priority_hint')} checked={priority} onChange={setPriority} />
      {USE_KINDS.map(({ name: kind, one }) => (
        <Switch
          key={kind}
          label={t(`${kind}_granted`)}
          checked={access[`${one}_access`] === 'granted'}
          onChange={(isGranted) => setAccess({ ...access, [`${one}_access`]: isGranted ? 'granted' : 'open' })}
        />
      ))}
    </FormDialog>
  );
}

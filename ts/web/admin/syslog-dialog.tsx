/** A syslog server: the node's, or that of a tenant. */
import { useState } from 'preact/hooks';
import { type Answer, call } from '../api/call.ts';
import { SelectField } from '../design/select-field.tsx';
import { TextField } from '../design/text-field.tsx';
import { t } from '../i18n/language.ts';
import { FormDialog } from './form-dialog.tsx';

type Setting = Answer<'GET /api/v1/system/syslog/config'>;
export type Route = Pick<Setting, 'port' | 'protocol'> & { host: string };
export type Figures = Omit<Answer<'GET /api/v1/system/syslog/stats'>, 'tenants'>;

interface SyslogDialogProps {
  /** The tenant whose server it is; undefined: the node's. Empty: one that is to be named. */
  tenant?: string;
  /** The tenant is the own one, which nobody needs to name. */
  isOwn?: boolean;
  setting: (Pick<Setting, 'host' | 'port' | 'protocol'> & { facility?: number }) | undefined;
  onClose(): void;
  onSaved(): Promise<void>;
}

const PROTOCOLS = ['udp', 'tcp', 'tls'] as const;
/** The last that a number may name (RFC 5424). */
const LAST_FACILITY = 23;

export function SyslogDialog({ tenant, isOwn = false, setting, onClose, onSaved }: SyslogDialogProps) {
  const [name, setName] = useState(tenant ?? '');
  const [host, setHost] = useState(setting?.host ?? '');
  const [port, setPort] = useState(String(setting?.port ?? 514));
  const [protocol, setProtocol] = useState<Route['protocol']>(setting?.protocol ?? 'udp');
  const [facility, setFacility] = useState(String(setting?.facility ?? 16));
  const send = async (): Promise<void> => {
    const body = { host: host.trim(), port: Number(port), protocol };
    if (tenant === undefined) await call('PUT /api/v1/system/syslog/config', { body: { ...body, facility: Number(facility) } });
    else await call('PUT /api/v1/system/syslog/config/tenant/{tenant}', { params: { tenant: name.trim() }, body });
    await onSaved();
  };
  return (
    <FormDialog title={t('syslog_server')} action={t('save')} send={send} onClose={onClose}>
      {tenant !== undefined && !isOwn && (
        <TextField label={t('tenant')} value={name} onInput={setName} required disabled={tenant !== ''} maxLength={128} />
      )}
      <TextField label={t('syslog_host')} hint={t('syslog_host_hint')} value={host} onInput={setHost} required maxLength={253} />
      <TextField label={t('syslog_port')} type="number" min={1} max={65_535} step={1} value={port} onInput={setPort} required />
      <SelectField
        label={t('syslog_protocol')}
        hint={t('syslog_protocol_hint')}
        value={protocol}
        options={PROTOCOLS.map((value) => ({ value, text: value.toUpperCase() }))}
        onChange={setProtocol}
      />
      {tenant === undefined && (
        <TextField
          label={t('syslog_facility')}
          hint={t('syslog_facility_hint')}
          type="number"
          min={0}
          max={LAST_FACILITY}
          step={1}
          value={facility}
          onInput={setFacility}
          required
        />
      )}
    </FormDialog>
  );
}

export function addressOf({ host, port, protocol }: Route): string {
  return `${protocol}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

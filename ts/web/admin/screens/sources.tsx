import { useState } from 'preact/hooks';
import { allRows } from '../../../client/list-pages.ts';
import { type Answer, call } from '../../api/call.ts';
import { Badge } from '../../design/badge.tsx';
import { TextField } from '../../design/text-field.tsx';
import { t } from '../../i18n/language.ts';
import { FormDialog } from '../form-dialog.tsx';
import { listScreen } from '../list-screen.tsx';

type Source = Answer<'GET /api/v1/science/sources'>['data'][number];
type Asked = Answer<'GET /api/v1/science/sources/requests'>['data'];

export const Screen = listScreen<Source, Asked>({
  title: 'science',
  detail: 'sources_detail',
  load: () => call('GET /api/v1/science/sources'),
  beside: async () =>
    (await allRows((query) => call('GET /api/v1/science/sources/requests', { query }))).filter(
      ({ state }) => state === 'waiting',
    ),
  keyOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  filters: [{ name: 'enabled', label: 'sources_enabled_only', kind: 'switch' }],
  shows: ({ enabled }, values) => enabled || (values['enabled'] ?? '') === '',
  columns: [
    {
      head: 'sources_name',
      cell: ({ name, description }) => (
        <div class="two-lines">
          <span>{name}</span>
          <span class="small quiet">{description}</span>
        </div>
      ),
    },
    { head: 'sources_category', cell: ({ category }) => category },
    {
      head: 'state',
      cell: (source) => (
        <Badge tone={source.enabled ? 'good' : 'neutral'}>{source.enabled ? t('sources_enabled') : t('sources_disabled')}</Badge>
      ),
    },
    { head: 'sources_key', cell: ({ key_present: isThere, needs_key: isNeeded }) => keyText(isThere, isNeeded) },
    {
      head: 'sources_asked',
      cell: ({ id }, asked) => (
        <span class="breakable small">
          {requestsFor(id, asked)
            .map(({ reason }) => reason)
            .join(' · ')}
        </span>
      ),
    },
  ],
  menu: (source, _, asked) => {
    const { id, enabled } = source;
    const waiting = requestsFor(id, asked);
    const change = (isOn: boolean) => call('PATCH /api/v1/science/sources/{id}', { params: { id }, body: { enabled: isOn } });
    return [
      enabled
        ? { text: t('sources_disable'), icon: 'stop', run: () => change(false) }
        : { text: t('sources_enable'), icon: 'play', run: () => change(true) },
      ...(source.key_url === null
        ? []
        : [
            {
              text: t('sources_set_key'),
              icon: 'key' as const,
              window: ({ close, reload }: { close(): void; reload(): Promise<void> }) => (
                <KeyDialog source={source} onClose={close} onSaved={reload} />
              ),
            },
          ]),
      ...(waiting.length === 0
        ? []
        : [
            {
              text: t('sources_decline'),
              icon: 'close' as const,
              run: () =>
                Promise.all(
                  waiting.map((one) => call('DELETE /api/v1/science/sources/requests/{id}', { params: { id: one.id } })),
                ),
            },
          ]),
    ];
  },
});

function requestsFor(id: string, asked: Asked = []): Asked {
  return asked.filter(({ source_id: of }) => of === id);
}

function keyText(isThere: boolean, isNeeded: boolean): string {
  if (isThere) return t('sources_key_set');
  return isNeeded ? t('sources_key_needed') : '–';
}

interface KeyDialogProps {
  source: Source;
  onClose(): void;
  onSaved(): Promise<void>;
}

function KeyDialog({ source, onClose, onSaved }: KeyDialogProps) {
  const [key, setKey] = useState('');
  const { id, name, key_url: url } = source;
  const send = async (): Promise<void> => {
    await call('PATCH /api/v1/science/sources/{id}', { params: { id }, body: { enabled: true, key: key.trim() } });
    await onSaved();
  };
  return (
    <FormDialog title={t('sources_key_of', { name })} action={t('save')} send={send} onClose={onClose}>
      <TextField
        label={t('sources_key')}
        hint={t('sources_key_hint', { url: url ?? '' })}
        type="password"
        value={key}
        onInput={setKey}
        required
        maxLength={500}
      />
    </FormDialog>
  );
}

/** Fetches a model of the catalogue, of the hub, or of an address. */
import { useState } from 'preact/hooks';
import { type Answer, call } from '../api/call.ts';
import { useData } from '../api/use-data.ts';
import { Button } from '../design/button.tsx';
import { Dialog } from '../design/dialog.tsx';
import { Notice } from '../design/notice.tsx';
import { SelectField } from '../design/select-field.tsx';
import { Table } from '../design/table.tsx';
import { Tabs } from '../design/tabs.tsx';
import { TextField } from '../design/text-field.tsx';
import { formatBytes } from '../i18n/format.ts';
import { t } from '../i18n/language.ts';
import { explain } from '../session/explain.ts';

type CatalogueModel = Answer<'GET /api/v1/models/catalogue'>['data'][number];
type Kind = CatalogueModel['kind'];
const KINDS: readonly Kind[] = ['chat', 'embedding', 'rerank', 'speech'];

/** `installed`: ids of the models that are there. */
export function PullDialog({ installed, onClose }: { installed: readonly string[]; onClose(): void }) {
  const [view, setView] = useState('catalogue');
  const tabs = [
    { id: 'catalogue', text: t('catalogue') },
    { id: 'address', text: t('another_model') },
  ];
  return (
    <Dialog title={t('pull_model')} wide onClose={onClose} closesOutside={false}>
      <Tabs label={t('pull_model')} tabs={tabs} chosen={view} onChoose={setView} />
      {view === 'catalogue' ? <Catalogue installed={installed} onClose={onClose} /> : <AddressForm onClose={onClose} />}
    </Dialog>
  );
}

function Catalogue({ installed, onClose }: { installed: readonly string[]; onClose(): void }) {
  const { data, error } = useData(() => call('GET /api/v1/models/catalogue'));
  const [kind, setKind] = useState<Kind>('chat');
  const [wrong, setWrong] = useState<unknown>();
  const space = data?.space_bytes ?? undefined;
  const pull = (name: string): void => {
    setWrong(undefined);
    call('POST /api/v1/models/pull', { body: { reference: name } }).then(onClose, setWrong);
  };
  const fault = error ?? wrong;
  return (
    <>
      {fault !== undefined && <Notice tone="danger">{explain(fault)}</Notice>}
      {data === undefined && error === undefined && <span class="spinner" role="status" aria-label={t('loading')} />}
      {data !== undefined && (
        <>
          <div class="row">
            <SelectField
              label={t('kind')}
              value={kind}
              options={KINDS.map((value) => ({ value, text: t(`model_kind_${value}`) }))}
              onChange={setKind}
            />
            {space !== undefined && <span class="small quiet push">{t('space_left', { size: formatBytes(space) })}</span>}
          </div>
          <Table
            label={t('catalogue')}
            rows={data.data.filter((model) => model.kind === kind)}
            keyOf={({ name }) => name}
            columns={[
              {
                head: t('name'),
                cell: ({ name, note }) => (
                  <div class="two-lines">
                    <span>{name}</span>
                    <span class="small quiet">{note}</span>
                  </div>
                ),
              },
              { head: t('size'), kind: 'number', cell: (model) => formatBytes(model.size_bytes) },
              { head: t('license'), cell: ({ license }) => <span class="small">{license}</span> },
              {
                head: t('actions'),
                kind: 'actions',
                cell: (model) => <PullButton model={model} space={space} isHere={installed.includes(model.name)} onPull={pull} />,
              },
            ]}
          />
        </>
      )}
    </>
  );
}

interface PullButtonProps {
  model: CatalogueModel;
  space: number | undefined;
  isHere: boolean;
  onPull(name: string): void;
}

function PullButton({ model: { name, size_bytes: size }, space, isHere, onPull }: PullButtonProps) {
  if (isHere) return <span class="small quiet">{t('is_here')}</span>;
  if (space !== undefined && size > space) return <span class="small">{t('no_space_for_it')}</span>;
  return (
    <Button size="small" look="plain" icon="download" aria-label={t('pull_named', { name })} onClick={() => onPull(name)}>
      {t('pull')}
    </Button>
  );
}

function AddressForm({ onClose }: { onClose(): void }) {
  const [reference, setReference] = useState('');
  const [name, setName] = useState('');
  const [sha256, setSha256] = useState('');
  const [wrong, setWrong] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const send = (event: Event): void => {
    event.preventDefault();
    setBusy(true);
    setWrong(undefined);
    const given = { name: name.trim() || undefined, sha256: sha256.trim() || undefined };
    call('POST /api/v1/models/pull', { body: { reference: reference.trim(), ...given } })
      .then(onClose, setWrong)
      .finally(() => setBusy(false));
  };
  return (
    <form class="stack" onSubmit={send}>
      {wrong !== undefined && <Notice tone="danger">{explain(wrong)}</Notice>}
      <TextField
        label={t('model_reference')}
        hint={t('model_reference_hint')}
        value={reference}
        onInput={setReference}
        required
        maxLength={4096}
      />
      <TextField label={t('model_name')} hint={t('model_name_hint')} value={name} onInput={setName} maxLength={120} />
      <TextField label={t('checksum')} hint={t('checksum_hint')} value={sha256} onInput={setSha256} maxLength={64} />
      <div class="buttons">
        <Button onClick={onClose}>{t('cancel')}</Button>
        <Button look="main" type="submit" busy={isBusy}>
          {t('pull')}
        </Button>
      </div>
    </form>
  );
}

import { useState } from 'preact/hooks';
import { type Answer, call } from '../../api/call.ts';
import { Badge, type Tone } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { confirmed } from '../../design/confirm.tsx';
import { Empty } from '../../design/empty.tsx';
import { Menu, type MenuItem } from '../../design/menu.tsx';
import { Table } from '../../design/table.tsx';
import { formatBytes, formatNumber } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { hasRole } from '../../session/session.ts';
import { attempt } from '../attempt.ts';
import { ModelDialog } from '../model-dialog.tsx';
import { ModelSettingsDialog } from '../model-settings-dialog.tsx';
import { abilityName, modelStateName } from '../model-words.ts';
import { PullDialog } from '../pull-dialog.tsx';
import { PullList } from '../pull-list.tsx';
import { ScreenFrame } from '../screen-frame.tsx';
import { useData } from '../use-data.ts';

type Model = Answer<'GET /api/v1/models'>['models'][number];

const EVERY_MS = 2500;
const TONES: Record<string, Tone> = { loaded: 'good', loading: 'accent', unloading: 'accent', unusable: 'danger' };

export function Models() {
  const { data, error, reload } = useData(() => call('GET /api/v1/models'), [], EVERY_MS);
  const [isPulling, setPulling] = useState(false);
  const [shown, setShown] = useState<string>();
  const [set, setSet] = useState<string>();
  const models = data?.models ?? [];
  return (
    <ScreenFrame
      title={t('models')}
      error={error}
      isLoading={data === undefined}
      actions={
        <Button look="main" icon="download" onClick={() => setPulling(true)}>
          {t('pull_model')}
        </Button>
      }
    >
      <PullList onDone={() => void reload()} />
      {models.length === 0 ? (
        <Empty icon="cube" title={t('no_models')} />
      ) : (
        <Table
          label={t('models')}
          rows={models}
          keyOf={({ id }) => id}
          columns={[
            { head: t('name'), cell: (model) => <Name model={model} /> },
            { head: t('state'), cell: (model) => <ModelState model={model} /> },
            { head: t('abilities'), cell: ({ capabilities }) => capabilities.map(abilityName).join(', ') },
            {
              head: t('parameters'),
              kind: 'number',
              cell: ({ n_params: count }) => (count === undefined ? '–' : millions(count)),
            },
            { head: t('context'), kind: 'number', cell: ({ context_length: length }) => formatNumber(length) },
            { head: t('size'), kind: 'number', cell: ({ size_bytes: sizeBytes }) => formatBytes(sizeBytes) },
            {
              head: t('actions'),
              kind: 'actions',
              cell: (model) => (
                <Menu
                  items={actionsOf(model, reload, setShown, setSet)}
                  icon="more"
                  size="small"
                  label={t('actions_of', { name: model.id })}
                />
              ),
            },
          ]}
        />
      )}
      {shown !== undefined && <ModelDialog id={shown} onClose={() => setShown(undefined)} />}
      {set !== undefined && <ModelSettingsDialog id={set} onClose={() => setSet(undefined)} />}
      {isPulling && <PullDialog installed={models.map(({ id }) => id)} onClose={() => setPulling(false)} />}
    </ScreenFrame>
  );
}

function millions(count: number): string {
  return count >= 1e9 ? `${formatNumber(count / 1e9, 1)} B` : `${formatNumber(count / 1e6, count < 1e7 ? 1 : 0)} M`;
}

function Name({ model }: { model: Model }) {
  const { id, quantisation, architecture, note } = model;
  return (
    <div class="two-lines">
      <span>{id}</span>
      <span class="small quiet">{note ?? [architecture, quantisation].filter(Boolean).join(' · ')}</span>
    </div>
  );
}

function ModelState({ model: { state, pinned } }: { model: Model }) {
  return (
    <span class="row">
      <Badge tone={TONES[state] ?? 'neutral'}>{modelStateName(state)}</Badge>
      {pinned === true && <Badge>{t('kept_in_memory')}</Badge>}
    </span>
  );
}

function actionsOf(
  { id, state, pinned }: Model,
  reload: () => Promise<void>,
  show: (id: string) => void,
  set: (id: string) => void,
): MenuItem[] {
  const params = { id };
  const act = (work: () => Promise<unknown>, done: string) => () => void attempt(work, done).then(reload);
  const isLoaded = state === 'loaded';
  const remove = async (): Promise<void> => {
    if (!(await confirmed(t('delete_model'), t('delete_model_detail', { id }), t('delete')))) return;
    await attempt(() => call('DELETE /api/v1/inference/models/{id}', { params }), t('model_deleted', { id }));
    await reload();
  };
  return [
    { text: t('details'), icon: 'list', run: () => show(id) },
    ...(hasRole('superadmin') ? [{ text: t('settings'), icon: 'settings', run: () => set(id) } as const] : []),
    isLoaded
      ? {
          text: t('unload'),
          icon: 'stop',
          run: act(() => call('POST /api/v1/inference/models/{id}/unload', { params }), t('unloaded', { id })),
        }
      : {
          text: t('load'),
          icon: 'play',
          run: act(() => call('POST /api/v1/inference/models/{id}/load', { params }), t('load_begun', { id })),
        },
    {
      text: pinned === true ? t('allow_unload') : t('keep_loaded'),
      icon: 'pin',
      run: act(
        () => call('PUT /api/v1/inference/models/{id}/pin', { params, body: { pinned: pinned !== true } }),
        t(pinned === true ? 'unpinned_model' : 'pinned_model', { id }),
      ),
    },
    { text: t('delete'), icon: 'trash', isDangerous: true, isApart: true, run: () => void remove() },
  ];
}

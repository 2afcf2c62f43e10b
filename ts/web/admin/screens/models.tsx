import { type Answer, call } from '../../api/call.ts';
import { Badge, type Tone } from '../../design/badge.tsx';
import { formatBytes, formatNumber } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { PullList } from '../../models/pull-list.tsx';
import { hasRole } from '../../session/session.ts';
import { listScreen, type RowAction } from '../list-screen.tsx';
import { ModelDialog } from '../model-dialog.tsx';
import { ModelSettingsDialog } from '../model-settings-dialog.tsx';
import { abilityName, modelStateName } from '../model-words.ts';
import { PullDialog } from '../pull-dialog.tsx';

type Model = Answer<'GET /api/v1/models'>['models'][number];

const TONES: Record<string, Tone> = { loaded: 'good', loading: 'accent', unloading: 'accent', unusable: 'danger' };

export const Screen = listScreen({
  title: 'models',
  load: async () => ({ data: (await call('GET /api/v1/models')).models }),
  keyOf: ({ id }) => id,
  everyMs: 2500,
  empty: { icon: 'cube', title: 'no_models' },
  main: {
    text: 'pull_model',
    icon: 'download',
    window: ({ close, rows }) => <PullDialog installed={rows.map(({ id }) => id)} onClose={close} />,
  },
  above: ({ reload }) => <PullList onDone={() => void reload()} />,
  columns: [
    { head: 'name', cell: (model) => <Name model={model} /> },
    { head: 'state', cell: (model) => <ModelState model={model} /> },
    {
      head: 'abilities',
      cell: ({ capabilities, documents }) => (
        <div class="two-lines">
          <span>{capabilities.map(abilityName).join(', ')}</span>
          {documents !== undefined && <span class="small quiet">{t(`documents_${documents}`)}</span>}
        </div>
      ),
    },
    {
      head: 'parameters',
      kind: 'number',
      cell: ({ n_params: count }) => (count === undefined ? '–' : millions(count)),
    },
    {
      head: 'context',
      kind: 'number',
      cell: ({ context_length: length }) => (length === undefined ? '–' : formatNumber(length)),
    },
    { head: 'size', kind: 'number', cell: ({ size_bytes: bytes }) => (bytes === undefined ? '–' : formatBytes(bytes)) },
  ],
  menu: (model) => {
    const { id } = model;
    return [
      { text: t('details'), icon: 'list', window: ({ close }) => <ModelDialog id={id} onClose={close} /> },
      ...(hasRole('superadmin') ? [settingsOf(id)] : []),
      loadOrUnload(model),
      pinOrNot(model),
      {
        text: t('delete'),
        icon: 'trash',
        isDangerous: true,
        isApart: true,
        question: [t('delete_model'), t('delete_model_detail', { id }), t('delete')],
        run: () => call('DELETE /api/v1/inference/models/{id}', { params: { id } }),
        done: t('model_deleted', { id }),
      },
    ];
  },
});

function settingsOf(id: string): RowAction<Model> {
  return { text: t('settings'), icon: 'settings', window: ({ close }) => <ModelSettingsDialog id={id} onClose={close} /> };
}

function loadOrUnload({ id, state }: Model): RowAction<Model> {
  const params = { id };
  return state === 'loaded'
    ? {
        text: t('unload'),
        icon: 'stop',
        run: () => call('POST /api/v1/inference/models/{id}/unload', { params }),
        done: t('unloaded', { id }),
      }
    : {
        text: t('load'),
        icon: 'play',
        run: () => call('POST /api/v1/inference/models/{id}/load', { params }),
        done: t('load_begun', { id }),
      };
}

function pinOrNot({ id, pinned }: Model): RowAction<Model> {
  const isPinned = pinned === true;
  return {
    text: isPinned ? t('allow_unload') : t('keep_loaded'),
    icon: 'pin',
    run: () => call('PUT /api/v1/inference/models/{id}/pin', { params: { id }, body: { pinned: !isPinned } }),
    done: t(isPinned ? 'unpinned_model' : 'pinned_model', { id }),
  };
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

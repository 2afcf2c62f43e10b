import { type Answer, call } from '../../api/call.ts';
import { useData } from '../../api/use-data.ts';
import { Badge } from '../../design/badge.tsx';
import { FactList } from '../../design/fact-list.tsx';
import { Notice } from '../../design/notice.tsx';
import { Table } from '../../design/table.tsx';
import { formatBytes, formatNumber, formatSeconds } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { ScreenFrame } from '../screen-frame.tsx';

type Status = Answer<'GET /api/v1/media/status'>;

const EVERY_MS = 3_000;

/** Shows what the node can hear and speak with, what holds it back, and what is under way. */
export function Screen() {
  const { data: status, error } = useData(() => call('GET /api/v1/media/status'), [], EVERY_MS);
  const voices = useData(() => call('GET /api/v1/tts/voices'));
  return (
    <ScreenFrame
      title={t('media')}
      detail={t('media_detail')}
      error={error ?? voices.error}
      isLoading={status === undefined || voices.data === undefined}
    >
      {status !== undefined && (
        <>
          <Amounts status={status} />
          {status.confinement_gap !== null && (
            <Notice tone="warn">{t('media_unconfined', { reason: status.confinement_gap })}</Notice>
          )}
          <Table
            label={t('media_programs')}
            rows={status.programs}
            keyOf={({ name }) => name}
            columns={[
              { head: t('media_programs'), cell: ({ name }) => name },
              {
                head: t('state'),
                cell: ({ is_installed: isThere }) => (
                  <Badge tone={isThere ? 'good' : 'warn'}>{isThere ? t('media_installed') : t('media_missing')}</Badge>
                ),
              },
              { head: t('details'), kind: 'long', cell: ({ remedy }) => remedy ?? '–' },
            ]}
          />
          {status.models.length === 0 ? <Notice>{t('media_no_model')}</Notice> : <Models status={status} />}
        </>
      )}
      {voices.data !== undefined && <Voices list={voices.data} />}
    </ScreenFrame>
  );
}

function Amounts({ status: { queue, limits } }: { status: Status }) {
  const of = (n: number, most: number): string => t('media_of', { n: formatNumber(n), most: formatNumber(most) });
  return (
    <section class="card" aria-label={t('media_under_way')}>
      <FactList
        facts={[
          { name: t('media_recordings'), value: of(queue.recordings, limits.recordings) },
          { name: t('media_waiting'), value: formatNumber(queue.waiting) },
          { name: t('media_texts'), value: of(queue.texts, limits.texts) },
          { name: t('media_longest'), value: formatSeconds(limits.seconds) },
          { name: t('media_characters'), value: formatNumber(limits.characters) },
        ]}
      />
      <p class="small">
        <a href="#jobs">{t('jobs')}</a> · <a href="#settings">{t('settings')}</a>
      </p>
    </section>
  );
}

function Models({ status }: { status: Status }) {
  return (
    <Table
      label={t('media_models')}
      rows={status.models}
      keyOf={({ id }) => id}
      columns={[
        { head: t('media_models'), cell: ({ id, is_default: isDefault }) => <Named text={id} isDefault={isDefault} /> },
        { head: t('state'), cell: ({ state }) => t(`media_${state}`) },
        { head: t('size'), kind: 'number', cell: ({ bytes }) => formatBytes(bytes) },
        { head: t('license'), cell: ({ license }) => license ?? '–' },
      ]}
    />
  );
}

function Voices({ list: { voices, note } }: { list: Answer<'GET /api/v1/tts/voices'> }) {
  return (
    <>
      <Table
        label={t('media_voices')}
        rows={voices}
        keyOf={({ id }) => id}
        columns={[
          { head: t('media_voices'), cell: ({ name, is_default: isDefault }) => <Named text={name} isDefault={isDefault} /> },
          { head: t('language'), cell: ({ language }) => language },
          { head: t('media_engine'), cell: ({ engine }) => engine },
          { head: t('license'), cell: ({ license }) => license },
        ]}
      />
      <p class="small quiet">{note}</p>
    </>
  );
}

function Named({ text, isDefault }: { text: string; isDefault: boolean }) {
  return (
    <span class="row">
      {text}
      {isDefault && <Badge tone="accent">{t('media_default')}</Badge>}
    </span>
  );
}

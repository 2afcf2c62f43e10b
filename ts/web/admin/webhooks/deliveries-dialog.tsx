/** What was sent to a webhook, what came of it, and sending it again. */
import { useState } from 'preact/hooks';
import type { PageQuery } from '../../../client/list-pages.ts';
import { type Answer, call } from '../../api/call.ts';
import { Badge, type Tone } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Empty } from '../../design/empty.tsx';
import { Notice } from '../../design/notice.tsx';
import { SelectField } from '../../design/select-field.tsx';
import { Table } from '../../design/table.tsx';
import { formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { attempt } from '../attempt.ts';
import { useRows } from '../use-rows.ts';
import type { Webhook } from './webhook-dialog.tsx';

type Delivery = Answer<'GET /api/v1/webhooks/{id}/deliveries'>['data'][number];
type State = Delivery['state'];

const EVERY_MS = 2000;
const STATES: readonly State[] = ['pending', 'delivered', 'failed'];
const TONES: Record<State, Tone> = { pending: 'accent', delivered: 'good', failed: 'danger' };

export function DeliveriesDialog({ webhook, onClose }: { webhook: Webhook; onClose(): void }) {
  const { id } = webhook;
  const [state, setState] = useState('');
  const [shown, setShown] = useState<string>();
  const load = (page: PageQuery) => {
    const query = { ...page, state: STATES.find((each) => each === state) };
    return call('GET /api/v1/webhooks/{id}/deliveries', { params: { id }, query });
  };
  const { rows, error, reload, more } = useRows(load, { inputs: [state], everyMs: EVERY_MS });
  const replay = async (delivery: string): Promise<void> => {
    await attempt(
      () => call('POST /api/v1/webhooks/{id}/deliveries/{delivery}/replay', { params: { id, delivery } }),
      t('replayed'),
    );
    await reload();
  };
  const states = [{ value: '', text: t('all') }, ...STATES.map((value) => ({ value, text: t(`delivery_${value}`) }))];
  return (
    <Dialog title={t('deliveries')} wide onClose={onClose}>
      <p class="small quiet breakable">{webhook.url}</p>
      <SelectField label={t('state')} value={state} options={states} onChange={setState} />
      {error !== undefined && <Notice tone="danger">{explain(error)}</Notice>}
      {rows?.length === 0 && (
        <Empty icon="send" title={t('no_deliveries')}>
          <span>{t('no_deliveries_detail')}</span>
        </Empty>
      )}
      {rows !== undefined && rows.length > 0 && (
        <Table
          label={t('deliveries')}
          rows={rows}
          more={more}
          keyOf={(delivery) => delivery.id}
          columns={[
            {
              head: t('event'),
              cell: (delivery) => (
                <div class="two-lines">
                  <span>{delivery.type}</span>
                  <span class="small quiet">{formatTime(delivery.created_at)}</span>
                </div>
              ),
            },
            {
              head: t('state'),
              cell: (delivery) => <Badge tone={TONES[delivery.state]}>{t(`delivery_${delivery.state}`)}</Badge>,
            },
            { head: t('attempts'), kind: 'number', cell: ({ attempts }) => attempts },
            {
              head: t('answer'),
              cell: ({ last_status: status, last_error: why }) => <span class="breakable">{why ?? status ?? '–'}</span>,
            },
            { head: t('next_attempt'), cell: ({ next_attempt_at: next }) => formatTime(next) },
            {
              head: t('actions'),
              kind: 'actions',
              cell: (delivery) => (
                <span class="row">
                  <Button
                    size="small"
                    aria-expanded={shown === delivery.id}
                    onClick={() => setShown(shown === delivery.id ? undefined : delivery.id)}
                  >
                    {t('content')}
                  </Button>
                  <Button size="small" look="plain" icon="refresh" onClick={() => void replay(delivery.id)}>
                    {t('replay')}
                  </Button>
                </span>
              ),
            },
          ]}
        />
      )}
      <Payload delivery={rows?.find((delivery) => delivery.id === shown)} />
    </Dialog>
  );
}

function Payload({ delivery }: { delivery: Delivery | undefined }) {
  if (delivery === undefined) return null;
  return (
    <section aria-label={t('content')}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <pre class="example" tabIndex={0}>
        {JSON.stringify(delivery.payload, undefined, 2)}
      </pre>
    </section>
  );
}

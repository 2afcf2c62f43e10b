import { call } from '../../api/call.ts';
import { Badge } from '../../design/badge.tsx';
import { formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { listScreen } from '../list-screen.tsx';
import { DeliveriesDialog } from '../webhooks/deliveries-dialog.tsx';
import { type Webhook, WebhookDialog } from '../webhooks/webhook-dialog.tsx';

export const Screen = listScreen({
  title: 'webhooks',
  detail: 'webhooks_detail',
  load: () => call('GET /api/v1/webhooks'),
  keyOf: ({ id }) => id,
  nameOf: ({ url }) => url,
  empty: { icon: 'link', title: 'no_webhooks', detail: 'no_webhooks_detail' },
  main: {
    text: 'new_webhook',
    icon: 'plus',
    window: ({ close, reload }) => <WebhookDialog webhook={undefined} onClose={close} onSaved={reload} />,
  },
  columns: [
    {
      head: 'address',
      cell: ({ url, description }) => (
        <div class="two-lines">
          <span>{url}</span>
          {description !== '' && <span class="small quiet">{description}</span>}
        </div>
      ),
    },
    { head: 'events', cell: ({ events }) => <span class="breakable small">{events.join(', ')}</span> },
    { head: 'state', cell: (webhook) => <WebhookState webhook={webhook} /> },
    { head: 'created', cell: ({ created_at: at }) => formatTime(at) },
  ],
  menu: (webhook) => {
    const { id, url, enabled } = webhook;
    return [
      {
        text: t('deliveries'),
        icon: 'list',
        window: ({ close }) => <DeliveriesDialog webhook={webhook} onClose={close} />,
      },
      {
        text: t('edit'),
        icon: 'edit',
        window: ({ close, reload }) => <WebhookDialog webhook={webhook} onClose={close} onSaved={reload} />,
      },
      {
        text: enabled ? t('disable') : t('enable'),
        icon: enabled ? 'stop' : 'play',
        run: () => call('PATCH /api/v1/webhooks/{id}', { params: { id }, body: { enabled: !enabled } }),
      },
      {
        text: t('delete'),
        icon: 'trash',
        isDangerous: true,
        isApart: true,
        question: [t('delete_webhook'), t('delete_webhook_detail', { url }), t('delete')],
        run: () => call('DELETE /api/v1/webhooks/{id}', { params: { id } }),
      },
    ];
  },
});

function WebhookState({ webhook }: { webhook: Webhook }) {
  const { enabled, disabled_reason: why, failing_since: since } = webhook;
  return (
    <div class="two-lines">
      <span>
        {!enabled ? (
          <Badge tone="danger">{t('disabled')}</Badge>
        ) : (
          <Badge tone={since === null ? 'good' : 'warn'}>{since === null ? t('active') : t('failing')}</Badge>
        )}
      </span>
      {!enabled && why !== null && <span class="small quiet">{why}</span>}
      {enabled && since !== null && <span class="small quiet">{t('failing_since', { time: formatTime(since) })}</span>}
    </div>
  );
}

import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { confirmed } from '../../design/confirm.tsx';
import { Empty } from '../../design/empty.tsx';
import { Menu, type MenuItem } from '../../design/menu.tsx';
import { Table } from '../../design/table.tsx';
import { formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { attempt } from '../attempt.ts';
import { ScreenFrame } from '../screen-frame.tsx';
import { useData } from '../use-data.ts';
import { DeliveriesDialog } from '../webhooks/deliveries-dialog.tsx';
import { type Webhook, WebhookDialog } from '../webhooks/webhook-dialog.tsx';

export function Webhooks() {
  const { data, error, reload } = useData(() => call('GET /api/v1/webhooks'));
  const events = useData(() => call('GET /api/v1/webhooks/events'));
  const [edited, setEdited] = useState<Webhook | 'new'>();
  const [shown, setShown] = useState<Webhook>();
  const webhooks = data?.data ?? [];
  return (
    <ScreenFrame
      title={t('webhooks')}
      detail={t('webhooks_detail')}
      error={error ?? events.error}
      isLoading={data === undefined || events.data === undefined}
      actions={
        <Button look="main" icon="plus" onClick={() => setEdited('new')}>
          {t('new_webhook')}
        </Button>
      }
    >
      {webhooks.length === 0 ? (
        <Empty icon="link" title={t('no_webhooks')}>
          <span>{t('no_webhooks_detail')}</span>
        </Empty>
      ) : (
        <Table
          label={t('webhooks')}
          rows={webhooks}
          keyOf={({ id }) => id}
          columns={[
            {
              head: t('address'),
              cell: ({ url, description }) => (
                <div class="two-lines">
                  <span>{url}</span>
                  {description !== '' && <span class="small quiet">{description}</span>}
                </div>
              ),
            },
            { head: t('events'), cell: (webhook) => <span class="breakable small">{webhook.events.join(', ')}</span> },
            { head: t('state'), cell: (webhook) => <WebhookState webhook={webhook} /> },
            { head: t('created'), cell: ({ created_at: at }) => formatTime(at) },
            {
              head: t('actions'),
              kind: 'actions',
              cell: (webhook) => (
                <Menu
                  items={actionsOf(webhook, reload, setEdited, setShown)}
                  icon="more"
                  size="small"
                  label={t('actions_of', { name: webhook.url })}
                />
              ),
            },
          ]}
        />
      )}
      {edited !== undefined && (
        <WebhookDialog
          webhook={edited === 'new' ? undefined : edited}
          events={events.data?.data ?? []}
          onClose={() => setEdited(undefined)}
          onSaved={reload}
        />
      )}
      {shown !== undefined && <DeliveriesDialog webhook={shown} onClose={() => setShown(undefined)} />}
    </ScreenFrame>
  );
}

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

function actionsOf(
  webhook: Webhook,
  reload: () => Promise<void>,
  edit: (webhook: Webhook) => void,
  show: (webhook: Webhook) => void,
): MenuItem[] {
  const { id, url, enabled } = webhook;
  const params = { id };
  const toggle = (): void => {
    void attempt(() => call('PATCH /api/v1/webhooks/{id}', { params, body: { enabled: !enabled } })).then(reload);
  };
  const remove = async (): Promise<void> => {
    if (!(await confirmed(t('delete_webhook'), t('delete_webhook_detail', { url }), t('delete')))) return;
    await attempt(() => call('DELETE /api/v1/webhooks/{id}', { params }));
    await reload();
  };
  return [
    { text: t('deliveries'), icon: 'list', run: () => show(webhook) },
    { text: t('edit'), icon: 'edit', run: () => edit(webhook) },
    { text: enabled ? t('disable') : t('enable'), icon: enabled ? 'stop' : 'play', run: toggle },
    { text: t('delete'), icon: 'trash', isDangerous: true, isApart: true, run: () => void remove() },
  ];
}

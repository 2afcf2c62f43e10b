/** Shows what an MCP server offers now, beside what was approved, and the button that approves it as it is shown. */
import { call } from '../../api/call.ts';
import { useData } from '../../api/use-data.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Notice } from '../../design/notice.tsx';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { attempt } from '../attempt.ts';

interface OfferedToolsDialogProps {
  label: string;
  onClose(): void;
  onSaved(): Promise<void>;
}

export function OfferedToolsDialog({ label, onClose, onSaved }: OfferedToolsDialogProps) {
  const params = { label };
  const { data, error } = useData(() => call('PATCH /api/v1/tools/mcp-servers/{label}', { params, body: {} }));
  const approve = async (hash: string): Promise<void> => {
    await attempt(() => call('POST /api/v1/tools/mcp-servers/{label}/approve', { params, body: { hash } }));
    await onSaved();
    onClose();
  };
  const hash = data?.hash ?? null;
  const waits = hash !== null && hash !== data?.approved_hash;
  return (
    <Dialog title={t('offered_tools_of', { name: label })} wide onClose={onClose}>
      <div class="stack">
        {error !== undefined && <Notice tone="danger">{explain(error)}</Notice>}
        {data === undefined && error === undefined && <span class="spinner" role="status" aria-label={t('loading')} />}
        {data?.reason != null && <Notice tone="danger">{data.reason}</Notice>}
        <ul class="plain-list" aria-label={t('tools')}>
          {data?.definitions.map(({ name, tool, state, description, input_schema: schema }) => (
            <li key={`${name} ${state}`} class="stack">
              <span class="row">
                <code class="breakable">{tool}</code>
                <Badge tone={state === 'ready' ? 'good' : 'warn'}>{t(`state_${state}`)}</Badge>
              </span>
              <span class="breakable">{description}</span>
              <code class="breakable small">{JSON.stringify(schema)}</code>
            </li>
          ))}
        </ul>
        {waits && (
          <Button look="main" onClick={() => void approve(hash)}>
            {t('approve_offer')}
          </Button>
        )}
      </div>
    </Dialog>
  );
}

/** All that a line of the audit log says. */
import type { Answer } from '../../api/call.ts';
import { Dialog } from '../../design/dialog.tsx';
import { FactList } from '../../design/fact-list.tsx';
import { formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';

export type AuditLine = Answer<'GET /api/v1/identity/audit'>['data'][number];

export function LineDialog({ line, actor, onClose }: { line: AuditLine; actor: string; onClose(): void }) {
  const code = (text: string) => <code class="breakable">{text === '' ? '–' : text}</code>;
  return (
    <Dialog title={t('audit_line', { seq: String(line.seq) })} wide onClose={onClose}>
      <FactList
        facts={[
          { name: t('time'), value: formatTime(line.at) },
          {
            name: t('actor'),
            value: (
              <>
                {actor === line.actor ? '' : `${actor} · `}
                {code(line.actor)}
              </>
            ),
          },
          { name: t('tenant'), value: line.tenant },
          { name: t('action'), value: code(line.action) },
          { name: t('target'), value: code(line.target) },
          { name: t('outcome'), value: t(`outcome_${line.outcome}`) },
          { name: t('address'), value: code(line.remote_address) },
          { name: t('request_id'), value: code(line.request_id) },
          { name: t('hash'), value: code(line.hash) },
        ]}
      />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <pre class="example" tabIndex={0}>
        {JSON.stringify(line.detail, undefined, 2)}
      </pre>
    </Dialog>
  );
}

/** A key or token, shown this once. */
import { Dialog } from '../design/dialog.tsx';
import { Notice } from '../design/notice.tsx';
import { Secret } from '../design/secret.tsx';
import { t } from '../i18n/language.ts';

interface SecretDialogProps {
  title: string;
  value: string;
  detail?: string;
  /** A call that uses it. */
  example?: string;
  onClose(): void;
}

export function SecretDialog({ title, value, detail, example, onClose }: SecretDialogProps) {
  return (
    <Dialog title={title} onClose={onClose} closesOutside={false}>
      <Notice tone="warn">{t('shown_once')}</Notice>
      <Secret value={value} />
      {detail !== undefined && <p class="small quiet">{detail}</p>}
      {example !== undefined && <pre class="example">{example}</pre>}
    </Dialog>
  );
}

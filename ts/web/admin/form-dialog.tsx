/** A form in a window: it closes when the server has taken it, and says why when not. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../design/button.tsx';
import { Dialog } from '../design/dialog.tsx';
import { Notice } from '../design/notice.tsx';
import { t } from '../i18n/language.ts';
import { explain } from '../session/explain.ts';

interface FormDialogProps {
  title: string;
  action: string;
  send(): Promise<unknown>;
  onClose(): void;
  /** Called after the server has taken it; closes by default. */
  onSent?(): void;
  children: ComponentChildren;
}

export function FormDialog({ title, action, send, onClose, onSent = onClose, children }: FormDialogProps) {
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const submit = (event: Event): void => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    send()
      .then(onSent, setError)
      .finally(() => setBusy(false));
  };
  return (
    <Dialog title={title} onClose={onClose} closesOutside={false}>
      <form class="stack" onSubmit={submit}>
        {error !== undefined && <Notice tone="danger">{explain(error)}</Notice>}
        {children}
        <div class="buttons">
          <Button look="plain" onClick={onClose}>
            {t('cancel')}
          </Button>
          <Button look="main" type="submit" busy={isBusy}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

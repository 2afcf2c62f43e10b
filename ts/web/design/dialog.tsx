/** A modal window. The browser's own element keeps the focus in it and gives it back. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { t } from '../i18n/language.ts';
import { Button } from './button.tsx';

interface DialogProps {
  title: string;
  wide?: boolean;
  /** A click beside the window closes it; not where something typed would be lost. */
  closesOutside?: boolean;
  onClose(): void;
  children: ComponentChildren;
}

export function Dialog({ title, wide = false, closesOutside = true, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    dialog?.querySelector<HTMLElement>('[data-first]')?.focus();
    return () => dialog?.close();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a modal dialogue by itself
    <dialog
      ref={element}
      class={wide ? 'dialog wide' : 'dialog'}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (closesOutside && event.target === element.current) onClose();
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <Button icon="close" label={t('close')} onClick={onClose} />
      </header>
      <div class="body">{children}</div>
    </dialog>
  );
}

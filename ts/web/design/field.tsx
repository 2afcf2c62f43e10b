/** A labelled control, with a hint and what is wrong with its value. */
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface ControlProps {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': boolean | undefined;
}

interface FieldProps {
  label: string;
  hint?: string | undefined;
  wrong?: string | undefined;
  children(props: ControlProps): ComponentChildren;
}

export function Field({ label, hint, wrong, children }: FieldProps) {
  const id = useId();
  const described = [hint === undefined ? '' : `${id}-hint`, wrong === undefined ? '' : `${id}-wrong`].filter(Boolean).join(' ');
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': described || undefined, 'aria-invalid': wrong === undefined ? undefined : true })}
      {wrong !== undefined && (
        <span class="wrong" id={`${id}-wrong`}>
          {wrong}
        </span>
      )}
      {hint !== undefined && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </div>
  );
}

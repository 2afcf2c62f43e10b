/** A field of several lines. */
import { directionOf } from './direction.ts';
import { Field } from './field.tsx';

interface TextAreaProps {
  label: string;
  hint?: string | undefined;
  wrong?: string | undefined;
  value: string;
  rows?: number;
  required?: boolean;
  maxLength?: number;
  /** Code and files have a fixed width, and nothing corrects them. */
  isCode?: boolean;
  onInput(value: string): void;
}

export function TextArea({ label, hint, wrong, isCode = false, onInput, ...rest }: TextAreaProps) {
  return (
    <Field label={label} hint={hint} wrong={wrong}>
      {(control) => (
        <textarea
          class={isCode ? 'input mono' : 'input'}
          dir={isCode ? 'ltr' : directionOf(rest.value)}
          spellcheck={!isCode}
          {...control}
          {...(rest as object)}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

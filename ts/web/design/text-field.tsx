/** A field of one line. */
import { directionOf } from './direction.ts';
import { Field } from './field.tsx';

interface TextFieldProps {
  label: string;
  hint?: string | undefined;
  wrong?: string | undefined;
  value: string;
  type?: 'text' | 'password' | 'email' | 'number' | 'url' | 'date' | 'color';
  required?: boolean;
  disabled?: boolean;
  autocomplete?: string;
  placeholder?: string;
  minLength?: number;
  maxLength?: number;
  min?: string | number;
  max?: string | number;
  step?: string | number;
  onInput(value: string): void;
}

export function TextField({ label, hint, wrong, onInput, ...rest }: TextFieldProps) {
  return (
    <Field label={label} hint={hint} wrong={wrong}>
      {(control) => (
        <input
          class="input"
          dir={rest.type === undefined || rest.type === 'text' ? directionOf(rest.value) : undefined}
          {...control}
          {...(rest as object)}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

/** A choice of one among few. */
import { Field } from './field.tsx';

interface SelectFieldProps {
  label: string;
  hint?: string | undefined;
  value: string;
  options: readonly { value: string; text: string }[];
  disabled?: boolean;
  onChange(value: string): void;
}

export function SelectField({ label, hint, value, options, disabled = false, onChange }: SelectFieldProps) {
  return (
    <Field label={label} hint={hint}>
      {(control) => (
        <select
          class="input"
          {...control}
          value={value}
          disabled={disabled}
          onChange={(event) => onChange(event.currentTarget.value)}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

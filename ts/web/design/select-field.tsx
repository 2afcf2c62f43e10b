/** A choice of one among few. */
import { Field } from './field.tsx';

interface SelectFieldProps<Value extends string> {
  label: string;
  hint?: string | undefined;
  value: NoInfer<Value>;
  options: readonly { value: Value; text: string }[];
  disabled?: boolean;
  onChange(value: NoInfer<Value>): void;
}

export function SelectField<Value extends string>(props: SelectFieldProps<Value>) {
  const { label, hint, value, options, disabled = false, onChange } = props;
  return (
    <Field label={label} hint={hint}>
      {(control) => (
        <select
          class="input"
          {...control}
          value={value}
          disabled={disabled}
          onChange={(event) => onChange(event.currentTarget.value as Value)}
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

/** A choice of any number among few. */
interface CheckListProps {
  label: string;
  options: readonly { value: string; text: string; hint?: string | undefined }[];
  chosen: readonly string[];
  onChange(chosen: string[]): void;
}

export function CheckList({ label, options, chosen, onChange }: CheckListProps) {
  const toggle = (value: string, isOn: boolean): void =>
    onChange(options.map((option) => option.value).filter((each) => (each === value ? isOn : chosen.includes(each))));
  return (
    <fieldset class="check-list">
      <legend>{label}</legend>
      {options.map(({ value, text, hint }) => (
        <label key={value}>
          <input
            type="checkbox"
            checked={chosen.includes(value)}
            onChange={(event) => toggle(value, event.currentTarget.checked)}
          />
          <span>
            {text}
            {hint !== undefined && <span class="hint">{hint}</span>}
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** Chooses between views of one thing. */
import { stepAlong } from './direction.ts';

interface TabsProps {
  label: string;
  tabs: readonly { id: string; text: string }[];
  chosen: string;
  onChoose(id: string): void;
}

export function Tabs({ label, tabs, chosen, onChoose }: TabsProps) {
  const onKey = (event: KeyboardEvent): void => {
    const step = stepAlong(event.key);
    if (step === undefined) return;
    const at = tabs.findIndex(({ id }) => id === chosen);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    if (next === undefined) return;
    onChoose(next.id);
    (event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('button')[tabs.indexOf(next)]?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} tabIndex={-1} onKeyDown={onKey}>
      {tabs.map(({ id, text }) => (
        <button
          key={id}
          type="button"
          role="tab"
          aria-selected={id === chosen}
          tabIndex={id === chosen ? 0 : -1}
          onClick={() => onChoose(id)}
        >
          {text}
        </button>
      ))}
    </div>
  );
}

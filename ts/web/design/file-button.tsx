/** Lets the reader choose a file. */
import { useRef } from 'preact/hooks';
import { Button } from './button.tsx';
import type { IconName } from './icon.tsx';

interface FileButtonProps {
  text: string;
  /** The attribute of an input of type file. */
  accept: string;
  icon?: IconName;
  busy?: boolean;
  onFile(file: File): void;
}

export function FileButton({ text, accept, icon = 'upload', busy = false, onFile }: FileButtonProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button look="plain" icon={icon} busy={busy} onClick={() => input.current?.click()}>
        {text}
      </Button>
      <input
        ref={input}
        type="file"
        class="unseen"
        tabIndex={-1}
        aria-label={text}
        accept={accept}
        onChange={(event) => {
          const [file] = event.currentTarget.files ?? [];
          // The same file can be chosen again.
          event.currentTarget.value = '';
          if (file !== undefined) onFile(file);
        }}
      />
    </>
  );
}

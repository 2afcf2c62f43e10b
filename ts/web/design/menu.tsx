/** A button that opens a list of actions. Arrow keys move in it, Escape and a press elsewhere close it. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Button, type ButtonProps } from './button.tsx';
import { isRightToLeft } from './direction.ts';
import { Icon, type IconName } from './icon.tsx';

export interface MenuItem {
  text: string;
  icon?: IconName;
  isDangerous?: boolean;
  /** Whether this choice is the one that holds. */
  isChosen?: boolean;
  /** A line is drawn above. */
  isApart?: boolean;
  run(): void;
}

interface MenuProps extends Omit<ButtonProps, 'onClick'> {
  items: readonly MenuItem[];
}

export function Menu({ items, ...button }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const holder = useRef<HTMLSpanElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const close = (givesFocusBack: boolean): void => {
    setOpen(false);
    if (givesFocusBack) holder.current?.querySelector<HTMLElement>(':scope > button')?.focus();
  };
  useLayoutEffect(() => {
    if (isOpen && list.current !== null && holder.current !== null) place(list.current, holder.current);
  }, [isOpen]);
  useEffect(() => {
    if (!isOpen) return;
    const onPress = (event: Event): void => {
      if (!holder.current?.contains(event.target as Node)) close(false);
    };
    // What moves the button leaves the list behind; an answer that grows elsewhere does not.
    const onScroll = (event: Event): void => {
      if ((event.target as Node).contains(holder.current)) close(false);
    };
    // Wherever the focus is.
    const onEscape = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape') return;
      close(list.current?.contains(document.activeElement) ?? false);
      event.preventDefault();
      event.stopPropagation();
    };
    document.addEventListener('pointerdown', onPress);
    document.addEventListener('keydown', onEscape, true);
    document.addEventListener('scroll', onScroll, true);
    return () => {
      document.removeEventListener('pointerdown', onPress);
      document.removeEventListener('keydown', onEscape, true);
      document.removeEventListener('scroll', onScroll, true);
    };
  }, [isOpen]);
  return (
    <span class="menu-holder" ref={holder}>
      <Button {...button} aria-haspopup="menu" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)} />
      {isOpen && (
        <div class="menu" role="menu" ref={list} tabIndex={-1} onKeyDown={(event) => onKey(event, close)}>
          {items.map((item) => (
            <MenuRow key={item.text} item={item} close={close} />
          ))}
        </div>
      )}
    </span>
  );
}

function MenuRow({ item, close }: { item: MenuItem; close(givesFocusBack: boolean): void }) {
  const isChoice = item.isChosen !== undefined;
  const run = (): void => {
    close(true);
    item.run();
  };
  return (
    <>
      {item.isApart && <hr />}
      {/* biome-ignore lint/a11y/useAriaPropsSupportedByRole: a choice has the role that it belongs to */}
      <button
        type="button"
        role={isChoice ? 'menuitemradio' : 'menuitem'}
        aria-checked={item.isChosen}
        class={item.isDangerous ? 'danger' : ''}
        onClick={run}
      >
        {isChoice ? <Icon name={item.isChosen ? 'check' : 'more'} /> : item.icon !== undefined && <Icon name={item.icon} />}
        {item.text}
      </button>
    </>
  );
}

/** The list begins below the button where there is room, else above it, and never goes beyond the window. */
function place(list: HTMLElement, holder: HTMLElement): void {
  const at = holder.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = list;
  const isBelow = at.bottom + height + 8 <= innerHeight || at.top < height;
  const start = isRightToLeft() ? innerWidth - at.right : at.left;
  list.style.insetInlineStart = `${Math.max(8, Math.min(start, innerWidth - width - 8))}px`;
  list.style.top = `${Math.max(8, isBelow ? Math.min(at.bottom + 4, innerHeight - height - 8) : at.top - height - 4)}px`;
  list.querySelector<HTMLElement>('[aria-checked="true"], button')?.focus();
}

function onKey(event: KeyboardEvent, close: (givesFocusBack: boolean) => void): void {
  const rows = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('button')];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  const go = (index: number): void => rows[(index + rows.length) % rows.length]?.focus();
  if (event.key === 'ArrowDown') go(at + 1);
  else if (event.key === 'ArrowUp') go(at - 1);
  else if (event.key === 'Home') go(0);
  else if (event.key === 'End') go(rows.length - 1);
  else {
    if (event.key === 'Tab') close(false);
    return;
  }
  event.preventDefault();
  event.stopPropagation();
}

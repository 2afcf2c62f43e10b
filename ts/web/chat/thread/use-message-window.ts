/** The window of messages of the scrolled thread. What is read stays in its place while others come and go around it. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Message } from './message.ts';
import { earlier, fit, later, type MessageWindow, windowAround, windowAtEnd } from './message-window.ts';

interface ShownWindow {
  window: MessageWindow;
  /** Whether the reader is near the first and near the last message that is drawn. */
  onScroll(isNearFirst: boolean, isNearLast: boolean): void;
  showEnd(): void;
  showAround(index: number): void;
}

export function useMessageWindow(
  all: readonly Message[],
  scroller: { readonly current: HTMLElement | null },
  isAtEnd: { readonly current: boolean },
): ShownWindow {
  const branch = useRef({ first: all[0]?.id, count: all.length });
  const held = useRef<{ element: Element; top: number } | undefined>(undefined);
  const [chosen, setChosen] = useState<MessageWindow>(() => windowAtEnd(all.length));
  let window = chosen;
  if (branch.current.first !== all[0]?.id) window = windowAtEnd(all.length);
  else if (branch.current.count !== all.length) window = fit(chosen, branch.current.count, all.length, isAtEnd.current);
  branch.current = { first: all[0]?.id, count: all.length };
  useLayoutEffect(() => {
    if (window !== chosen) setChosen(window);
  }, [window]);
  useLayoutEffect(() => {
    const anchor = held.current;
    held.current = undefined;
    if (anchor?.element.isConnected && scroller.current !== null)
      scroller.current.scrollTop += anchor.element.getBoundingClientRect().top - anchor.top;
  }, [window.first, window.end]);
  const move = (next: MessageWindow, keptId: string | undefined): void => {
    if (next.first === window.first && next.end === window.end) return;
    const element = document.getElementById(`m-${keptId}`);
    held.current = element === null ? undefined : { element, top: element.getBoundingClientRect().top };
    setChosen(next);
  };
  return {
    window,
    showEnd: () => setChosen(windowAtEnd(all.length)),
    showAround: (index) => setChosen(windowAround(index, all.length)),
    onScroll: (isNearFirst, isNearLast) => {
      if (isNearFirst && window.first > 0) move(earlier(window), all[window.first]?.id);
      else if (isNearLast && window.end < all.length) move(later(window, all.length), all[window.end - 1]?.id);
    },
  };
}

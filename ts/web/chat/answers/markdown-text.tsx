/** Markdown of a message that is whole. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { loadRenderer, renderer } from '../markdown/renderer.ts';
import type { Citation } from '../thread/message.ts';

export function MarkdownText({ text, citations }: { text: string; citations: readonly Citation[] }) {
  const root = useRef<HTMLDivElement>(null);
  const drawing = renderer.value;
  useLayoutEffect(() => {
    if (root.current === null) return;
    if (drawing === undefined) {
      root.current.textContent = text;
      loadRenderer();
    } else drawing.drawMarkdown(root.current, text, citations);
  }, [text, citations, drawing]);
  return <div class={drawing === undefined ? 'prose unread' : 'prose'} ref={root} />;
}

/** A snippet with the words that were searched for. Places come from the server and are checked, since they cut text. */
interface MarkedTextProps {
  text: string;
  matches: readonly { start: number; end: number }[];
}

export function MarkedText({ text, matches }: MarkedTextProps) {
  const parts = [];
  let at = 0;
  for (const { start, end } of matches) {
    if (start < at || end <= start || end > text.length) continue;
    parts.push(text.slice(at, start), <mark key={start}>{text.slice(start, end)}</mark>);
    at = end;
  }
  return (
    <>
      {parts}
      {text.slice(at)}
    </>
  );
}

/** Cuts a text as LangChain's RecursiveCharacterTextSplitter does: at the first separator that occurs, and pieces that are too long at the next one. */
const SEPARATORS = ['\n\n', '\n', ' ', ''] as const;

export function splitRecursively(
  text: string,
  size: number,
  overlap: number,
  separators: readonly string[] = SEPARATORS,
): string[] {
  const at = separators.findIndex((one) => one === '' || text.includes(one));
  const separator = separators[at] ?? '';
  const chunks: string[] = [];
  let short: string[] = [];
  for (const piece of text.split(separator).filter((one) => one !== '')) {
    if (piece.length < size) {
      short.push(piece);
      continue;
    }
    chunks.push(...merge(short, separator, size, overlap));
    short = [];
    chunks.push(...(at + 1 >= separators.length ? [piece] : splitRecursively(piece, size, overlap, separators.slice(at + 1))));
  }
  return [...chunks, ...merge(short, separator, size, overlap)];
}

/** Neighbours together, as long as they fit; the last of one chunk that fit into the overlap begin the next. */
function merge(pieces: readonly string[], separator: string, size: number, overlap: number): string[] {
  const chunks: string[] = [];
  const current: string[] = [];
  let length = 0;
  const between = () => (current.length > 0 ? separator.length : 0);
  for (const piece of pieces) {
    if (length + piece.length + between() > size && current.length > 0) {
      chunks.push(current.join(separator).trim());
      while (length > overlap || (length > 0 && length + piece.length + between() > size)) {
        length -= (current[0]?.length ?? 0) + (current.length > 1 ? separator.length : 0);
        current.shift();
      }
    }
    length += piece.length + between();
    current.push(piece);
  }
  if (current.length > 0) chunks.push(current.join(separator).trim());
  return chunks.filter((chunk) => chunk !== '');
}

/** Where a browser goes after it signed in: a path of this server, whatever somebody wrote into a link. */

export const MAX_RETURN_LENGTH = 1024;
const ELSEWHERE = 'http://svc.invalid';

/**
 * The path as the browser will read it; undefined: it leads to another origin, or is none. Browsers take `\` for `/` and drop tabs and line ends,
 * so `/\evil` and `/<tab>/evil` are other hosts.
 */
export function returnPath(text: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused
  if (text.length > MAX_RETURN_LENGTH || !/^\/(?!\/)[^\\\u0000-\u0020\u007f]*$/.test(text)) return undefined;
  if (!URL.canParse(text, ELSEWHERE)) return undefined;
  const { origin, pathname, search, hash } = new URL(text, ELSEWHERE);
  // Dots can leave two slashes in front: /.//evil.
  return origin === ELSEWHERE && !pathname.startsWith('//') ? pathname + search + hash : undefined;
}

/** The encoding that a page names in its first kilobyte (WHATWG HTML section 13.2.3.2), or an XML document in its first line. */
export function declaredCharset(bytes: Uint8Array): string | undefined {
  const start = new TextDecoder('latin1').decode(bytes.subarray(0, 1024));
  return (
    /^\s*<\?xml[^>]*\sencoding\s*=\s*["']([\w-]{1,40})["']/i.exec(start)?.[1] ??
    /<meta[^>]*\scharset\s*=\s*(?:["']\s*)?([\w-]{1,40})/i.exec(start)?.[1]
  );
}

/** How MIME writes bytes as lines (RFC 2045 section 6). Nothing is refused: what is no code stands for itself, as readers of mail do. */

export function decodeTransfer(text: string, encoding: string | undefined): Uint8Array {
  switch (encoding?.trim().toLowerCase()) {
    case 'base64':
      return decodeBase64(text);
    case 'quoted-printable':
      return decodeQuotedPrintable(text);
    default:
      return Buffer.from(text, 'latin1');
  }
}

export function decodeBase64(text: string): Uint8Array {
  return Buffer.from(text.replace(/[^A-Za-z0-9+/]/g, ''), 'base64');
}

export function decodeQuotedPrintable(text: string): Uint8Array {
  const joined = text.replace(/=[ \t]*\r?\n/g, '');
  return Buffer.from(
    joined.replace(/=([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );
}

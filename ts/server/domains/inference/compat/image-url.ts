/** Images come inside the request as data: URLs; the server fetches nothing on behalf of a client. */
import { invalid } from '../errors.ts';

const dataUrl = /^data:(image\/[a-z0-9.+-]+)(?:;[a-z0-9=._-]+)*;base64,/i;
const base64 = /^[A-Za-z0-9+/]+={0,2}$/;
const maxImages = 64;

/** Collects the encoded images of a request, in the order of their parts. */
export class RequestMedia {
  readonly images: Uint8Array[] = [];

  /** Keeps the image and returns the placeholder URL that its message part carries to the engine. */
  addUrl(url: string, param: string): string {
    const head = dataUrl.exec(url);
    if (!head) throw invalid(param, refuseUrl(url, param));
    return this.addBase64(url.slice(head[0].length), param);
  }

  addBase64(text: string, param: string): string {
    if (this.images.length >= maxImages) throw invalid(param, `A request holds at most ${maxImages} images.`);
    if (!base64.test(text)) throw invalid(param, `${param} must hold base64 data.`);
    this.images.push(Buffer.from(text, 'base64'));
    return `attached:${this.images.length - 1}`;
  }
}

function refuseUrl(url: string, param: string): string {
  if (/^https?:/i.test(url))
    return `${param} names a web address, and this server fetches none; send the image itself as a data: URL.`;
  return `${param} must be a data: URL with a base64 image, for example data:image/png;base64,....`;
}

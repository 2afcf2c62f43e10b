/** Collects the images and sounds of a request, in the order of their parts. They come inside it: the server fetches nothing. */
import { invalid } from '../errors.ts';
import { type EncodedMedia, type SoundFormat, soundFormats } from './encoded-media.ts';
import { readImageSize } from './image-header.ts';
import type { ImageSize } from './image-size.ts';
import { maxImagePixels, maxImageRatio, maxMediaParts, maxRequestPixels } from './media-limits.ts';

const dataUrl = /^data:(image\/[a-z0-9.+-]+)(?:;[a-z0-9=._-]+)*;base64,/i;
const base64 = /^[A-Za-z0-9+/]+={0,2}$/;

export class RequestMedia {
  readonly parts: EncodedMedia[] = [];
  #nPixels = 0;

  get hasImages(): boolean {
    return this.parts.some(({ kind }) => kind === 'image');
  }

  get hasSounds(): boolean {
    return this.parts.some(({ kind }) => kind === 'audio');
  }

  /** Keeps the image of a data: URL and returns the placeholder URL that its message part carries to the engine. */
  addImageUrl(url: string, param: string): string {
    const head = dataUrl.exec(url);
    if (!head) throw invalid(param, refuseUrl(url, param));
    return this.addImage(url.slice(head[0].length), param);
  }

  addImage(text: string, param: string): string {
    const bytes = this.#read(text, param);
    const size = readImageSize(bytes);
    if (!size) throw invalid(param, `${param} must be a PNG, JPEG, WebP, GIF or AVIF image.`);
    this.#count(size, param);
    return this.#keep({ kind: 'image', bytes, param, ...size });
  }

  addSound(text: string, format: string, param: string): string {
    if (!isSoundFormat(format)) throw invalid(`${param}.format`, `${param}.format must be one of ${soundFormats.join(', ')}.`);
    return this.#keep({ kind: 'audio', bytes: this.#read(text, `${param}.data`), format, param: `${param}.data` });
  }

  #read(text: string, param: string): Buffer {
    if (this.parts.length >= maxMediaParts)
      throw invalid(param, `A request holds at most ${maxMediaParts} images and sounds together.`);
    if (!base64.test(text)) throw invalid(param, `${param} must hold base64 data.`);
    return Buffer.from(text, 'base64');
  }

  #count({ width, height }: ImageSize, param: string): void {
    const nPixels = width * height;
    const size = `${param} is an image of ${width} x ${height} pixels`;
    if (nPixels > maxImagePixels) throw invalid(param, `${size}; at most ${maxImagePixels} pixels are read. Make it smaller.`);
    if (Math.max(width, height) > maxImageRatio * Math.min(width, height))
      throw invalid(param, `${size}; one side may be at most ${maxImageRatio} times as long as the other.`);
    this.#nPixels += nPixels;
    if (this.#nPixels <= maxRequestPixels) return;
    throw invalid(param, `The images up to ${param} have ${this.#nPixels} pixels; a request may have ${maxRequestPixels}.`);
  }

  #keep(part: EncodedMedia): string {
    return `attached:${this.parts.push(part) - 1}`;
  }
}

function isSoundFormat(text: string): text is SoundFormat {
  return (soundFormats as readonly string[]).includes(text);
}

function refuseUrl(url: string, param: string): string {
  if (/^https?:/i.test(url))
    return `${param} names a web address, and this server fetches none; send the image itself as a data: URL.`;
  return `${param} must be a data: URL with a base64 image, for example data:image/png;base64,....`;
}

/** Media types of the files that a built page consists of. */
import { extname } from 'node:path';

interface MediaType {
  type: string;
  /** Worth compressing: the format itself is not compressed. */
  compresses: boolean;
}

const text = (type: string): MediaType => ({ type, compresses: true });
const binary = (type: string): MediaType => ({ type, compresses: false });

const TYPES: Readonly<Record<string, MediaType>> = {
  '.html': text('text/html; charset=utf-8'),
  '.css': text('text/css; charset=utf-8'),
  '.js': text('text/javascript; charset=utf-8'),
  '.mjs': text('text/javascript; charset=utf-8'),
  '.json': text('application/json'),
  '.map': text('application/json'),
  '.webmanifest': text('application/manifest+json'),
  '.svg': text('image/svg+xml'),
  '.txt': text('text/plain; charset=utf-8'),
  '.xml': text('application/xml'),
  '.wasm': text('application/wasm'),
  '.ttf': text('font/ttf'),
  '.ico': text('image/x-icon'),
  '.png': binary('image/png'),
  '.jpg': binary('image/jpeg'),
  '.jpeg': binary('image/jpeg'),
  '.gif': binary('image/gif'),
  '.webp': binary('image/webp'),
  '.avif': binary('image/avif'),
  '.woff': binary('font/woff'),
  '.woff2': binary('font/woff2'),
  '.mp3': binary('audio/mpeg'),
  '.mp4': binary('video/mp4'),
};

export function mediaTypeOf(name: string): MediaType {
  return TYPES[extname(name).toLowerCase()] ?? binary('application/octet-stream');
}

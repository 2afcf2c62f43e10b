/** What this program is: where it is installed, and its version. */
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ApiInfo } from './platform/http/docs/openapi.ts';

/** The folder that holds package.json: a checkout, or the installed package. */
export const INSTALL_ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');

export const VERSION = (JSON.parse(readFileSync(join(INSTALL_ROOT, 'package.json'), 'utf8')) as { version: string }).version;

export const API_INFO: ApiInfo = {
  title: 'svc',
  version: VERSION,
  description:
    'A self-hosted AI platform. `/v1/*` speaks the chat-completions API, `/api/v1/*` is the native one. Errors carry a code to match on ' +
    'and a sentence in `detail`. Bodies may hold members that are not listed here; they are ignored.',
};

/** What this program is: where it is installed, and its version. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { INSTALL_ROOT } from './platform/files/install-root.ts';
import type { ApiInfo } from './platform/http/docs/openapi.ts';

export { INSTALL_ROOT };

export const VERSION = (JSON.parse(readFileSync(join(INSTALL_ROOT, 'package.json'), 'utf8')) as { version: string }).version;

export const API_INFO: ApiInfo = {
  title: 'svc',
  version: VERSION,
  description:
    'A self-hosted AI platform. `/v1/*` speaks the chat-completions API, `/api/v1/*` is the native one. Errors carry a code to match on ' +
    'and a sentence in `detail`. Bodies may hold members that are not listed here; they are ignored.',
};

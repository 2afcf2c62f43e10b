/** Answers that several routes of identity give. */
import type { BytesReply } from '../../../platform/http/route.ts';

export const NO_CONTENT: BytesReply = { kind: 'bytes', status: 204, headers: {}, body: '' };
/** For answers that hold a secret. */
export const NO_STORE = { 'cache-control': 'no-store' };

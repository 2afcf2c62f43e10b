/** Files of a conversation, which its owner alone can use. */

import { Refusal } from '../../../client/refusal.ts';
import { retry } from '../../../client/retry.ts';
import { addressOf, call } from '../../api/call.ts';
import { sendBytes } from './send-bytes.ts';
import { indexed, type UploadOptions, type UploadOutcome } from './upload.ts';

interface AddOptions extends Omit<UploadOptions, 'namespace'> {
  conversationId: string;
  /** It is there already. */
  hasBegun: boolean;
}

/** A conversation that nothing is said in yet begins with its first file; until it is, no list shows it, and it goes by itself. Throws Refusal. */
export async function addFile(
  file: File,
  { conversationId: id, hasBegun, signal, onProgress }: AddOptions,
): Promise<UploadOutcome> {
  if (file.size === 0) throw new Refusal(400, 'invalid_request', '');
  if (!hasBegun)
    await retry({ signal }, () => call('POST /api/v1/edge/conversations', { body: { id, temporary: true }, signal }));
  const address = addressOf('/api/v1/edge/conversations/files', { query: { id, filename: file.name } });
  const onSent = (sent: number): void =>
    onProgress({ step: sent < file.size ? 'sending' : 'indexing', share: shareOf(sent, file) });
  const answer = await retry({ signal }, () => sendBytes({ address, bytes: file, signal, onSent }));
  onProgress({ step: 'indexing', share: undefined });
  return await indexed(JSON.parse(answer), signal, onProgress);
}

/** Undefined once all is sent: the server reads it then. */
function shareOf(sent: number, { size }: File): number | undefined {
  return sent < size ? sent / size : undefined;
}

export async function removeFile(conversationId: string, fileId: string): Promise<void> {
  const params = { file_id: fileId };
  await call('DELETE /api/v1/edge/conversations/files/{file_id}', { params, query: { id: conversationId } });
}

/** Puts it into a knowledge base as well, where everyone of the tenant finds it. Throws Refusal. */
export async function keepFile(conversationId: string, fileId: string, namespace: string): Promise<void> {
  const answer = await call('POST /api/v1/edge/conversations/files/{file_id}/keep', {
    params: { file_id: fileId },
    body: { id: conversationId, namespace },
  });
  await indexed(answer, new AbortController().signal, () => undefined);
}

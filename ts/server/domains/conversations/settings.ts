/** Settings of the conversations module. */
import { integerSchema, setting } from '../../platform/config/setting.ts';

export const DEFAULT_TENANT_BYTES = 50 * 1024 ** 3;

export const conversationSettings = {
  'conversations.tenant_bytes': setting(
    integerSchema(1, Number.MAX_SAFE_INTEGER),
    DEFAULT_TENANT_BYTES,
    'Bytes that the conversations and artifacts of one tenant may take together.',
  ),
  'conversations.temporary_hours': setting(
    integerSchema(1, 8760),
    24,
    'Hours after its last message at which a temporary conversation is erased.',
  ),
};

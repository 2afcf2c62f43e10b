/** Settings of the conversations module. */
import { integerSchema, setting } from '../../platform/config/setting.ts';

export const conversationSettings = {
  'conversations.temporary_hours': setting(
    integerSchema(1, 8760),
    24,
    'Hours after its last message at which a temporary conversation is erased.',
  ),
};

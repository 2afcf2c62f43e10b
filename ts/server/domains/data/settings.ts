/** Settings of the data module. */
import Type from 'typebox';
import { integerSchema, setting } from '../../platform/config/setting.ts';

export const dataSettings = {
  'data.answers': setting(
    Type.Enum(['auto', 'quotes', 'model']),
    'auto',
    'Who answers over knowledge bases: quotes, the sentences that answer, word for word with their citations; model, the model from the passages; auto, quotes in place of demonstration models and those with less than a billion parameters.',
  ),
  'data.tenant_bases': setting(
    integerSchema(1, 1_000_000),
    1_000,
    'Knowledge bases, which are vector stores to OpenAI’s clients, that one tenant may have.',
  ),
  'data.account_conversation_bytes': setting(
    integerSchema(1, Number.MAX_SAFE_INTEGER),
    2 * 1024 ** 3,
    'Bytes that the files of all conversations of one account may take together; they count for data.tenant_file_bytes too.',
  ),
} as const;

/** Settings of the data module. */
import Type from 'typebox';
import { integerSchema, setting } from '../../platform/config/setting.ts';
import { extractionSettings } from './extractor/settings.ts';
import { uploadSettings } from './uploads/settings.ts';

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

  ...uploadSettings,
  ...extractionSettings,
} as const;

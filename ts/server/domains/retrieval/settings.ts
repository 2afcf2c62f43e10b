/** Settings of retrieval. They have the names of the module that knowledge bases are in. */
import Type from 'typebox';
import { integerSchema, maskUserInfo, setting, textSchema } from '../../platform/config/setting.ts';

export const retrievalSettings = {
  'data.embedding_model': setting(
    Type.String({ minLength: 1, maxLength: 200 }),
    'bge-m3-q8_0',
    'Model that embeds the documents of new knowledge bases: an installed one, else one of the service at data.embedding_url, else the one that ships.',
  ),
  'data.embedding_url': setting(
    Type.String({ maxLength: 2000, pattern: '^$|^https?://' }),
    'http://localhost:11434',
    'Service that embeds where the model is not installed here, as Ollama or OpenAI does (/v1/embeddings); empty for none.',
    { accepts: 'a URL that starts with http:// or https://, or nothing', mask: maskUserInfo },
  ),
  'data.embedding_key': setting(textSchema, '', 'Key for data.embedding_url, sent as Authorization: Bearer.', {
    mask: (key) => (key === '' ? '' : '***'),
  }),
  'data.rerank_model': setting(
    textSchema,
    'auto',
    'Model that ranks the best passages again: a name, auto for an installed one, or off.',
  ),
  'data.vector_storage': setting(
    Type.Enum(['f16', 'i8', 'b1']),
    'f16',
    'How vectors of knowledge bases lie in memory: f16, two bytes for each number; i8 or b1, a byte or a bit for each, by which the best are found and then compared exactly with the half floats in a file under data_dir.',
  ),
  'data.max_index_bytes': setting(
    integerSchema(16 * 1024 * 1024, Number.MAX_SAFE_INTEGER),
    2 * 1024 ** 3,
    'Memory for the indexes of knowledge bases; the one unused longest is dropped, and loaded again when it is asked.',
  ),
} as const;

/** The dialect of each kind of provider, and what its registration needs besides an address. */
import type { KindName } from '../../ts/server/domains/cloud/kinds/kind.ts';
import { anthropicDialect } from './anthropic.ts';
import { bedrockDialect } from './bedrock.ts';
import { geminiDialect } from './gemini.ts';
import { ollamaDialect } from './ollama.ts';
import { openAiDialect } from './openai.ts';
import type { Dialect } from './provider-server.ts';

interface KindFacts {
  readonly dialect: Dialect;
  /** It ends the address. */
  readonly path: string;
  readonly more: object;
}

const KEYED = { key: 'planted-key-0123456789' };

export const PROVIDERS: Readonly<Record<KindName, KindFacts>> = {
  openai: { dialect: openAiDialect, path: '/v1', more: KEYED },
  azure: { dialect: openAiDialect, path: '', more: { ...KEYED, api_version: '2024-10-21' } },
  anthropic: { dialect: anthropicDialect, path: '', more: KEYED },
  gemini: { dialect: geminiDialect, path: '', more: KEYED },
  bedrock: { dialect: bedrockDialect, path: '', more: { key: 'AKIDEXAMPLE:secret-0123456789', region: 'eu-central-1' } },
  ollama: { dialect: ollamaDialect, path: '', more: {} },
};

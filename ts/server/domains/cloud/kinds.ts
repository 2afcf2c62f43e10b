/** All kinds of providers. A new one is a folder and a line here. */
import { anthropic } from './kinds/anthropic/index.ts';
import { azure } from './kinds/azure/index.ts';
import { bedrock } from './kinds/bedrock/index.ts';
import { gemini } from './kinds/gemini/index.ts';
import type { Kind, KindName } from './kinds/kind.ts';
import { ollama } from './kinds/ollama/index.ts';
import { openai } from './kinds/openai/index.ts';

export const KINDS: Readonly<Record<KindName, Kind>> = { openai, azure, anthropic, gemini, bedrock, ollama };

/** The modules of this program. A new one is a folder below domains/ and a line here. */
import { conversations } from './domains/conversations/index.ts';
import { identity } from './domains/identity/index.ts';
import { inference } from './domains/inference/index.ts';
import { system } from './domains/system/index.ts';
import type { AnyModuleDefinition } from './platform/module/module.ts';

export const modules: readonly AnyModuleDefinition[] = [identity, inference, conversations, system];

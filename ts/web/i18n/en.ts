/** The texts of the pages in English. Their keys are what every other catalogue has. */
import { account } from './en/account.ts';
import { composer } from './en/composer.ts';
import { design } from './en/design.ts';
import { goals } from './en/goals.ts';
import { knowledge } from './en/knowledge.ts';
import { library } from './en/library.ts';
import { login } from './en/login.ts';
import { memory } from './en/memory.ts';
import { speech } from './en/speech.ts';
import { thread } from './en/thread.ts';
import { words } from './en/words.ts';

export const en = {
  ...account,
  ...composer,
  ...design,
  ...goals,
  ...knowledge,
  ...library,
  ...login,
  ...memory,
  ...speech,
  ...thread,
  ...words,
} as const;

/** The texts of the pages in German. */
import type { Catalogue } from './catalogue.ts';
import { account } from './de/account.ts';
import { composer } from './de/composer.ts';
import { design } from './de/design.ts';
import { goals } from './de/goals.ts';
import { knowledge } from './de/knowledge.ts';
import { library } from './de/library.ts';
import { login } from './de/login.ts';
import { memory } from './de/memory.ts';
import { speech } from './de/speech.ts';
import { thread } from './de/thread.ts';
import { words } from './de/words.ts';

export const de: Catalogue = {
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
};

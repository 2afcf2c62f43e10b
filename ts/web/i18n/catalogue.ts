/** What every catalogue has: the keys of the English one. The console has texts of its own, which other pages do not load. */
import type { consoleEn } from '../admin/texts/en.ts';
import type { en } from './en.ts';

export type TextKey = keyof typeof en;
export type ConsoleTextKey = keyof typeof consoleEn;
export type Catalogue = Readonly<Record<TextKey, string>>;
export type ConsoleCatalogue = Readonly<Record<ConsoleTextKey, string>>;
/** What another language says in the place of a file of English texts. */
export type Translation<English> = Readonly<Record<keyof English, string>>;

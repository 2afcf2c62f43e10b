/** What every catalogue has: the keys of the English one. The console has texts of its own, which other pages do not load. */
import type { en } from './en.ts';

export type { ConsoleTextKey } from '../admin/texts.ts';
export type Language = 'en' | 'de';
export type TextKey = keyof typeof en;
export type Catalogue = Readonly<Record<TextKey, string>>;
/** What another language says in the place of a file of English texts. */
export type Translation<English> = Readonly<Record<keyof English, string>>;
/** Texts in every language side by side. */
export type Texts = Readonly<Record<string, Readonly<Record<Language, string>>>>;

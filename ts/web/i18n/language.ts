/** The language of the page, and its catalogue, which is fetched before anything is drawn. */
import type { Catalogue, ConsoleTextKey, Language, TextKey } from './catalogue.ts';
import { en } from './en.ts';

export const LANGUAGES: Readonly<Record<Language, string>> = { en: 'English', de: 'Deutsch' };

const STORED_AT = 'svc.language';
const RIGHT_TO_LEFT = /^(ar|fa|he|ur)/;

let catalogue: Readonly<Record<string, string>> = en satisfies Catalogue;
let current: Language = 'en';

export function language(): Language {
  return current;
}

/** What the reader chose, else the first of the browser's languages that there is a catalogue for. */
function preferred(): Language {
  const wanted = [localStorage.getItem(STORED_AT) ?? '', ...navigator.languages];
  const known = Object.keys(LANGUAGES) as Language[];
  for (const tag of wanted) {
    const found = known.find((name) => tag.toLowerCase().split('-')[0] === name);
    if (found !== undefined) return found;
  }
  return 'en';
}

/** Texts that one page alone shows. */
export type OwnTexts = (language: Language) => Promise<Readonly<Record<string, string>>>;

export async function loadLanguage(own?: OwnTexts): Promise<void> {
  current = preferred();
  const [shared, more] = await Promise.all([current === 'de' ? import('./de.ts').then(({ de }) => de) : en, own?.(current)]);
  catalogue = { ...shared, ...more };
  document.documentElement.lang = current;
  document.documentElement.dir = RIGHT_TO_LEFT.test(current) ? 'rtl' : 'ltr';
}

/** The page is drawn anew, so that no component has to follow a change. */
export function chooseLanguage(name: Language): void {
  localStorage.setItem(STORED_AT, name);
  location.reload();
}

/** The text of a key, with `{name}` replaced. Keys of the console are known on its page alone. */
export function t(key: TextKey | ConsoleTextKey, values: Readonly<Record<string, string | number>> = {}): string {
  return (catalogue[key] ?? key).replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    return typeof value === 'number' ? value.toLocaleString(current) : value;
  });
}

/** Theme and language as entries of a menu. */
import type { MenuItem } from '../design/menu.tsx';
import { chooseTheme, chosenTheme, THEMES } from '../design/theme.ts';
import type { Language } from '../i18n/catalogue.ts';
import { chooseLanguage, LANGUAGES, language, t } from '../i18n/language.ts';

export function themeItems(onChange: () => void): MenuItem[] {
  return THEMES.map((theme, index) => ({
    text: t(`theme_${theme}`),
    isChosen: chosenTheme() === theme,
    isApart: index === 0,
    run: () => {
      chooseTheme(theme);
      onChange();
    },
  }));
}

export function languageItems(): MenuItem[] {
  return (Object.keys(LANGUAGES) as Language[]).map((name, index) => ({
    text: LANGUAGES[name],
    isChosen: language() === name,
    isApart: index === 0,
    run: () => chooseLanguage(name),
  }));
}

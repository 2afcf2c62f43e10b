/** Light, dark, high contrast, or what the system says. */
export const THEMES = ['system', 'light', 'dark', 'contrast'] as const;
type Theme = (typeof THEMES)[number];

const STORED_AT = 'svc.theme';

export function chosenTheme(): Theme {
  const stored = localStorage.getItem(STORED_AT);
  return THEMES.find((theme) => theme === stored) ?? 'system';
}

export function chooseTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(STORED_AT);
  else localStorage.setItem(STORED_AT, theme);
  applyTheme();
}

/** Follows the system's wish for contrast while the page is open, too. */
export function keepTheme(): void {
  applyTheme();
  moreContrast().addEventListener('change', applyTheme);
}

function moreContrast(): MediaQueryList {
  return matchMedia('(prefers-contrast: more)');
}

function applyTheme(): void {
  const theme = chosenTheme();
  const isContrast = theme === 'system' && moreContrast().matches;
  if (isContrast) document.documentElement.dataset['theme'] = 'contrast';
  else if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

/** Calls back when the colours of the page are others. Returns how to stop that. */
export function onThemeChange(listener: () => void): () => void {
  const chosen = new MutationObserver(listener);
  chosen.observe(document.documentElement, { attributeFilter: ['data-theme', 'style'] });
  const scheme = matchMedia('(prefers-color-scheme: dark)');
  scheme.addEventListener('change', listener);
  return () => {
    chosen.disconnect();
    scheme.removeEventListener('change', listener);
  };
}

import { ICONS, Icon } from '../../design/icon.tsx';
import { t } from '../../i18n/language.ts';

/** Custom properties of tokens.css. */
const COLOURS = [
  ...['paper', 'sheet', 'well', 'hover', 'line', 'line-strong', 'ink', 'ink-2', 'ink-3', 'accent', 'accent-soft'],
  ...['danger', 'danger-soft', 'warn', 'warn-soft', 'good', 'good-soft', 'mark'],
];

export function ColourSamples() {
  return (
    <section class="card stack" aria-label={t('sample_colours')}>
      <h2>{t('sample_colours')}</h2>
      <div class="swatches">
        {COLOURS.map((name) => (
          <div class="swatch" key={name}>
            <i style={{ background: `var(--${name})` }} />
            {name}
          </div>
        ))}
      </div>
    </section>
  );
}

export function IconSamples() {
  return (
    <section class="card stack" aria-label={t('sample_icons')}>
      <h2>{t('sample_icons')}</h2>
      <div class="swatches">
        {ICONS.map((name) => (
          <div class="swatch row" key={name}>
            <Icon name={name} /> {name}
          </div>
        ))}
      </div>
    </section>
  );
}

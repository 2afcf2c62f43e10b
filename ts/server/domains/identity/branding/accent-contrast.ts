/**
 * Whether a colour can be the pages' accent: text in it, on it and on a light tint of it must be readable (WCAG 2.2, 1.4.3: 4.5 to 1). The surfaces are
 * those of the pages' own tokens (ts/web/design/tokens.css).
 */
export type Scheme = 'light' | 'dark';

type Rgb = readonly [number, number, number];

/** `lowest`: where an accent has the least contrast; `sheet`: what its soft form is mixed with; `ink`: what is written on it. */
const SURFACES: Record<Scheme, { lowest: Rgb; sheet: Rgb; ink: Rgb }> = {
  light: { lowest: [0xeb, 0xe8, 0xe1], sheet: [255, 255, 255], ink: [255, 255, 255] },
  dark: { lowest: [0x2b, 0x29, 0x25], sheet: [0x22, 0x20, 0x1d], ink: [0x07, 0x10, 0x0e] },
};
/** How much of the accent its soft form has; the pages mix the same. */
const SOFT_SHARE = 0.08;
const LEAST = 4.5;

/** `colour`: #rrggbb. Undefined: it is readable; else the contrast that it has at its worst. */
export function contrastFault(colour: string, scheme: Scheme): number | undefined {
  const accent = rgbOf(colour);
  const { lowest, sheet, ink } = SURFACES[scheme];
  const soft = sheet.map((value, i) => value * (1 - SOFT_SHARE) + (accent[i] ?? 0) * SOFT_SHARE) as unknown as Rgb;
  const worst = Math.min(contrast(accent, lowest), contrast(accent, soft), contrast(accent, ink));
  return worst >= LEAST ? undefined : worst;
}

function rgbOf(colour: string): Rgb {
  const value = Number.parseInt(colour.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

function contrast(a: Rgb, b: Rgb): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((one, other) => one - other);
  return (light + 0.05) / (dark + 0.05);
}

/** WCAG's relative luminance of sRGB. */
function luminance(rgb: Rgb): number {
  const [red = 0, green = 0, blue = 0] = rgb.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

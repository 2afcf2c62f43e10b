/** Which paragraph styles of a Word document are headings. Styles have translated ids, so their names and outline levels count. */
import type { PackageParts } from './package-parts.ts';

interface Style {
  basedOn?: string;
  level?: number;
}

export interface HeadingStyle {
  level: number;
  isTitle: boolean;
}

const MAX_CHAIN = 20;

/** By style id. */
export async function readHeadingStyles(parts: PackageParts, name: string | undefined): Promise<Map<string, HeadingStyle>> {
  const styles = new Map<string, Style>();
  const titles = new Set<string>();
  let id = '';
  await parts.readOptional(name, {
    open: (element, attributes) => {
      const value = attributes['w:val'] ?? '';
      if (element === 'style') {
        id = attributes['w:styleId'] ?? '';
        styles.set(id, {});
      } else if (element === 'name') {
        const heading = /^heading ([1-9])$/i.exec(value)?.[1];
        if (heading !== undefined) styles.set(id, { ...styles.get(id), level: Number(heading) });
        if (/^title$/i.test(value)) titles.add(id);
      } else if (element === 'basedOn') styles.set(id, { ...styles.get(id), basedOn: value });
      else if (element === 'outlineLvl' && /^[0-8]$/.test(value)) styles.set(id, { level: Number(value) + 1, ...styles.get(id) });
    },
    close: (element) => {
      if (element === 'style') id = '';
    },
  });
  const headings = new Map<string, HeadingStyle>();
  for (const each of styles.keys()) {
    const level = titles.has(each) ? 1 : levelOf(styles, each);
    if (level !== undefined) headings.set(each, { level, isTitle: titles.has(each) });
  }
  return headings;
}

/** The chain of styles may be a circle. */
function levelOf(styles: ReadonlyMap<string, Style>, id: string): number | undefined {
  let next: string | undefined = id;
  for (let i = 0; i < MAX_CHAIN && next !== undefined; i++) {
    const style: Style | undefined = styles.get(next);
    if (style?.level !== undefined) return style.level;
    next = style?.basedOn;
  }
  return undefined;
}

/** What an office document says of itself: its title, its language, and how many pages its program counted. */
import type { PackageParts } from './package-parts.ts';

export interface DocumentProperties {
  title?: string;
  language?: string;
  nPages?: number;
}

export async function readProperties(parts: PackageParts): Promise<DocumentProperties> {
  const values = new Map<string, string>();
  let element = '';
  const handler = {
    open: (name: string) => {
      element = name;
    },
    text: (text: string) => {
      if (['title', 'language', 'Pages'].includes(element))
        values.set(element, `${values.get(element) ?? ''}${text}`.slice(0, 1000));
    },
    close: () => {
      element = '';
    },
  };
  await parts.readOptional('docProps/core.xml', handler);
  await parts.readOptional('docProps/app.xml', handler);
  return propertiesOf(values.get('title'), values.get('language'), values.get('Pages'));
}

export function propertiesOf(title = '', language = '', pages = ''): DocumentProperties {
  const nPages = Number(pages);
  return {
    ...(title.trim() === '' ? {} : { title: title.trim() }),
    ...(/^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*$/.test(language) ? { language } : {}),
    ...(Number.isSafeInteger(nPages) && nPages > 0 ? { nPages } : {}),
  };
}

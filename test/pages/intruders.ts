import type { Page } from 'playwright-core';

/** What stands in the page that has no place there. */
export function intruders(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    const bad =
      'script:not([src^="/assets/"]), iframe, object, embed, base, meta[http-equiv], form[action], video, audio, math:not(.katex math), use, foreignObject, image';
    for (const element of document.querySelectorAll(bad)) found.push(element.outerHTML.slice(0, 200));
    for (const element of document.querySelectorAll('link'))
      if (!element.href.startsWith(`${location.origin}/assets/`)) found.push(element.outerHTML.slice(0, 200));
    for (const element of document.querySelectorAll('#page *')) {
      for (const { name, value } of element.attributes) {
        const isScript =
          name.startsWith('on') || ['srcdoc', 'formaction', 'ping', 'srcset', 'poster', 'background'].includes(name);
        const isElsewhere = name === 'src' && !value.startsWith('data:image/') && !value.startsWith('/api/v1/tenants/');
        const isForeignStyle = name === 'style' && /url\(/.test(value);
        if (isScript || isElsewhere || isForeignStyle) found.push(`${name}=${value.slice(0, 200)}`);
      }
    }
    // An empty chat leads administrators to the models.
    for (const link of document.querySelectorAll<HTMLAnchorElement>('.thread a[href]:not([href="/admin#models"])'))
      if (!/^(https?|mailto):/.test(link.protocol) || link.rel !== 'noopener noreferrer nofollow')
        found.push(link.outerHTML.slice(0, 200));
    if ('ran' in globalThis) found.push('a script ran');
    return found;
  });
}

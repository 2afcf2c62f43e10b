/** Word documents (.docx, and .docm without its macros, which are neither read nor run). */
import type { BlockList } from '../block-list.ts';
import type { ExtractedDocument } from '../extracted-document.ts';
import { readProperties } from './document-properties.ts';
import type { PackageParts } from './package-parts.ts';
import { PageCounter } from './page-counter.ts';
import { readHeadingStyles } from './word-styles.ts';
import { WordText } from './word-text.ts';

const NOTES = ['footnotes', 'endnotes', 'comments'];

/** @param main name of the document's part. */
export async function readDocx(
  parts: PackageParts,
  main: string,
  blocks: BlockList,
): Promise<Omit<ExtractedDocument, 'blocks' | 'warnings'>> {
  const related = await parts.relationships(main);
  const targetOf = (type: string) => related.find((each) => each.type === type)?.target;
  const { title, language, nPages } = await readProperties(parts);
  const styles = await readHeadingStyles(parts, targetOf('styles'));
  const pages = new PageCounter();
  const body = new WordText(blocks, { styles, pages });
  await parts.read(main, body);
  const confirmed = pages.confirm(blocks.blocks, nPages);
  blocks.place = {};
  for (const type of NOTES) await parts.readOptional(targetOf(type), new WordText(blocks, { styles, isNote: true }));
  const shownTitle = title ?? body.title;
  return {
    kind: 'docx',
    ...(shownTitle === undefined ? {} : { title: shownTitle }),
    ...(language === undefined ? {} : { language }),
    ...(confirmed === undefined ? {} : { pages: confirmed }),
  };
}

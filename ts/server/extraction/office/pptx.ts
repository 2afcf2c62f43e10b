/** Presentations (.pptx, and .pptm without its macros): slides in the order in which they are shown, each with its speaker notes. */
import type { BlockList } from '../block-list.ts';
import type { ExtractedDocument } from '../extracted-document.ts';
import { ExtractionRefusal } from '../extraction-refusal.ts';
import { readProperties } from './document-properties.ts';
import type { PackageParts } from './package-parts.ts';
import { SlideText } from './slide-text.ts';

export async function readPptx(
  parts: PackageParts,
  main: string,
  blocks: BlockList,
): Promise<Omit<ExtractedDocument, 'blocks' | 'warnings'>> {
  const slides = await listSlides(parts, main);
  const { maxPages } = blocks.limits;
  if (slides.length > maxPages)
    throw new ExtractionRefusal(
      'too_many_pages',
      `The presentation has ${slides.length} slides, and at most ${maxPages} are read.`,
    );
  let firstTitle: string | undefined;
  for (const [i, part] of slides.entries()) {
    blocks.place = { slide: i + 1 };
    const slide = new SlideText(blocks, false);
    await parts.read(part, slide);
    firstTitle ??= slide.title;
    const notes = (await parts.relationships(part)).find(({ type }) => type === 'notesSlide')?.target;
    await parts.readOptional(notes, new SlideText(blocks, true));
  }
  const { nPages: _, title = firstTitle, ...properties } = await readProperties(parts);
  return { kind: 'pptx', ...(title === undefined ? {} : { title }), ...properties, pages: slides.length };
}

async function listSlides(parts: PackageParts, main: string): Promise<string[]> {
  const ids: string[] = [];
  await parts.read(main, {
    open: (element, attributes) => {
      if (element === 'sldId') ids.push(attributes['r:id'] ?? '');
    },
  });
  const related = await parts.relationships(main);
  const targets = new Map(related.filter(({ type }) => type === 'slide').map(({ id, target }) => [id, target]));
  return ids.map((id) => targets.get(id)).filter((target) => target !== undefined);
}

import { relationships, writePackage, XML } from './office-package.ts';
import type { WrittenSlide } from './written-document.ts';
import { escapeXml, type WrittenPart } from './zip-writer.ts';

/** Files of slides are numbered backwards: their order is that of the list, and not that of the names. */
export function writePptx(slides: readonly WrittenSlide[], title?: string): Buffer {
  const fileOf = (i: number) => `slide${slides.length - i}.xml`;
  const list = slides.map((_, i) => `<p:sldId id="${256 + i}" r:id="rId${i + 1}"/>`);
  return writePackage(
    {
      main: 'ppt/presentation.xml',
      contentType: 'application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml',
      title,
    },
    [
      { name: 'ppt/presentation.xml', data: `${XML}<p:presentation><p:sldIdLst>${list.join('')}</p:sldIdLst></p:presentation>` },
      {
        name: 'ppt/_rels/presentation.xml.rels',
        data: relationships(slides.map((_, i) => [`rId${i + 1}`, 'slide', `slides/${fileOf(i)}`] as const)),
      },
      ...slides.flatMap((slide, i) => slideParts(slide, fileOf(i))),
    ],
  );
}

function slideParts({ title, lines, table, notes }: WrittenSlide, file: string): WrittenPart[] {
  const rows = table?.map(
    (cells) => `<a:tr>${cells.map((cell) => `<a:tc><a:txBody>${paragraph(cell)}</a:txBody></a:tc>`).join('')}</a:tr>`,
  );
  const frame =
    rows === undefined ? '' : `<p:graphicFrame><a:graphic><a:tbl>${rows.join('')}</a:tbl></a:graphic></p:graphicFrame>`;
  const slide = {
    name: `ppt/slides/${file}`,
    data: `${XML}<p:sld><p:spTree>${shape('title', [title])}${shape('body', lines)}${frame}${shape('sldNum', ['7'])}</p:spTree></p:sld>`,
  };
  if (notes === undefined) return [slide];
  return [
    slide,
    { name: `ppt/slides/_rels/${file}.rels`, data: relationships([['rId1', 'notesSlide', `../notesSlides/${file}`]]) },
    {
      name: `ppt/notesSlides/${file}`,
      data: `${XML}<p:notes><p:spTree>${shape('body', [notes])}${shape('sldNum', ['7'])}</p:spTree></p:notes>`,
    },
  ];
}

function shape(placeholder: string, lines: readonly string[]): string {
  return `<p:sp><p:nvSpPr><p:nvPr><p:ph type="${placeholder}"/></p:nvPr></p:nvSpPr><p:txBody>${lines.map(paragraph).join('')}</p:txBody></p:sp>`;
}

function paragraph(text: string): string {
  return `<a:p><a:r><a:t>${escapeXml(text)}</a:t></a:r></a:p>`;
}

import { relationships, writePackage, XML } from './office-package.ts';
import { countPages, type WrittenBlock, type WrittenDocument } from './written-document.ts';
import { escapeXml, type WrittenPart } from './zip-writer.ts';

const W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';

/** Headings have styles with translated ids, as a German Word writes them. */
export function writeDocx(
  { title, blocks, nPages = countPages(blocks) }: WrittenDocument,
  more: readonly WrittenPart[] = [],
): Buffer {
  const notes = blocks.filter((block) => block.type === 'note').map(({ text }) => `<w:footnote>${paragraph(text)}</w:footnote>`);
  const styles = [1, 2, 3].map((level) => `<w:style w:styleId="berschrift${level}"><w:name w:val="heading ${level}"/></w:style>`);
  return writePackage(
    {
      main: 'word/document.xml',
      contentType: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml',
      title,
      nPages,
    },
    [
      {
        name: 'word/document.xml',
        data: `${XML}<w:document ${W}><w:body>${blocks.map(writeBlock).join('')}</w:body></w:document>`,
      },
      { name: 'word/styles.xml', data: `${XML}<w:styles ${W}>${styles.join('')}</w:styles>` },
      { name: 'word/footnotes.xml', data: `${XML}<w:footnotes ${W}>${notes.join('')}</w:footnotes>` },
      {
        name: 'word/_rels/document.xml.rels',
        data: relationships([
          ['rId1', 'styles', 'styles.xml'],
          ['rId2', 'footnotes', 'footnotes.xml'],
        ]),
      },
      ...more,
    ],
  );
}

function writeBlock(block: WrittenBlock): string {
  switch (block.type) {
    case 'heading':
      return paragraph(block.text, `<w:pPr><w:pStyle w:val="berschrift${block.level}"/></w:pPr>`);
    case 'paragraph':
      return paragraph(block.text);
    case 'note':
      return '';
    case 'table':
      return `<w:tbl>${block.rows.map((cells) => `<w:tr>${cells.map((cell) => `<w:tc>${paragraph(cell)}</w:tc>`).join('')}</w:tr>`).join('')}</w:tbl>`;
    case 'page-break':
      return '<w:p><w:r><w:br w:type="page"/></w:r></w:p>';
  }
}

/** In two runs, as Word parts what was edited. */
function paragraph(text: string, properties = ''): string {
  const middle = Math.floor(text.length / 2);
  const runs = [text.slice(0, middle), text.slice(middle)].map(
    (run) => `<w:r><w:t xml:space="preserve">${escapeXml(run)}</w:t></w:r>`,
  );
  return `<w:p>${properties}${runs.join('')}</w:p>`;
}

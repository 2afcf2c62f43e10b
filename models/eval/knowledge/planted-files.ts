/** Planted documents as files of several kinds, each of which keeps its pages, slides or sheets. */
import { writeDocx } from '../../../ts/server/extraction/test-support/docx-writer.ts';
import { writeOdp, writeOds, writeOdt } from '../../../ts/server/extraction/test-support/odf-writer.ts';
import { wrap, writePdf } from '../../../ts/server/extraction/test-support/pdf-writer.ts';
import { writePptx } from '../../../ts/server/extraction/test-support/pptx-writer.ts';
import { writeXlsx } from '../../../ts/server/extraction/test-support/xlsx-writer.ts';
import type { PlantedDocument, PlantedPage } from './planted-facts.ts';

interface PlantedFile {
  readonly name: string;
  readonly bytes: Buffer;
  /** As citations name the places, in their order: pages and slides by number, sheets by name. */
  readonly pages: readonly (number | string)[];
}

const KINDS = ['pdf', 'docx', 'pptx', 'odt', 'odp', 'xlsx', 'ods'] as const;
const WORKBOOKS: readonly string[] = ['xlsx', 'ods'];

export function toFile(document: PlantedDocument, index: number): PlantedFile {
  const kind = KINDS[index % KINDS.length] ?? 'pdf';
  const name = `${document.title.toLowerCase().replace(/[^a-z0-9]+/g, '-')}.${kind}`;
  const pages = document.pages.map(({ heading }, i) => (WORKBOOKS.includes(kind) ? heading : i + 1));
  return { name, bytes: write(kind, document), pages };
}

function write(kind: (typeof KINDS)[number], { title, pages }: PlantedDocument): Buffer {
  const slides = pages.map(({ heading, sentences }) => ({ title: heading, lines: [...sentences] }));
  const blocks = pages.flatMap(({ heading, sentences }, i) => [
    ...(i === 0 ? [] : [{ type: 'page-break' as const }]),
    { type: 'heading' as const, text: heading, level: 1 },
    { type: 'paragraph' as const, text: sentences.join(' ') },
  ]);
  switch (kind) {
    case 'pdf':
      return writePdf(
        pages.map(({ heading, sentences }) => {
          return [{ text: heading, x: 60, y: 60, size: 18 }, ...wrap(sentences.join(' '), 60, 100, 450).texts];
        }),
        { title },
      );
    case 'docx':
      return writeDocx({ title, blocks });
    case 'odt':
      return writeOdt({ title, blocks });
    case 'pptx':
      return writePptx(slides, title);
    case 'odp':
      return writeOdp(slides, title);
    case 'xlsx':
      return writeXlsx(pages.map(toSheet));
    case 'ods':
      return writeOds(pages.map(toSheet));
  }
}

function toSheet({ heading, sentences }: PlantedPage) {
  return { name: heading, rows: [['No.', 'Statement'], ...sentences.map((sentence, i) => [i + 1, sentence])] };
}

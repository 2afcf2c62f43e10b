/** The parts that every Office Open XML file has. */
import { escapeXml, type WrittenPart, writeZip } from './zip-writer.ts';

export const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

interface PackageOptions {
  /** The part of the document itself and its content type. */
  main: string;
  contentType: string;
  title?: string | undefined;
  nPages?: number | undefined;
}

export function writePackage({ main, contentType, title, nPages }: PackageOptions, parts: readonly WrittenPart[]): Buffer {
  const core = `${XML}<cp:coreProperties xmlns:cp="c" xmlns:dc="d"><dc:title>${escapeXml(title ?? '')}</dc:title></cp:coreProperties>`;
  const app = `${XML}<Properties>${nPages === undefined ? '' : `<Pages>${nPages}</Pages>`}</Properties>`;
  const types =
    `${XML}<Types><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
    `<Default Extension="xml" ContentType="application/xml"/><Override PartName="/${main}" ContentType="${contentType}"/></Types>`;
  return writeZip([
    { name: '[Content_Types].xml', data: types },
    { name: '_rels/.rels', data: relationships([['rId1', 'officeDocument', main]]) },
    { name: 'docProps/core.xml', data: core },
    { name: 'docProps/app.xml', data: app },
    ...parts,
  ]);
}

/** Of id, type and target. */
export function relationships(list: readonly (readonly [string, string, string])[]): string {
  const items = list.map(
    ([id, type, target]) => `<Relationship Id="${id}" Type="${RELATIONS}/${type}" Target="${escapeXml(target)}"/>`,
  );
  return `${XML}<Relationships>${items.join('')}</Relationships>`;
}

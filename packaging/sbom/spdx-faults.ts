/** What is wrong with an SPDX 2.3 document (ISO/IEC 5962, clauses 6, 7 and 11), as far as one of packages and relations can be. */

interface Part {
  SPDXID?: unknown;
  name?: unknown;
  versionInfo?: unknown;
  downloadLocation?: unknown;
  licenseConcluded?: unknown;
  licenseDeclared?: unknown;
  copyrightText?: unknown;
  filesAnalyzed?: unknown;
  externalRefs?: { referenceCategory?: unknown; referenceType?: unknown; referenceLocator?: unknown }[];
}

interface Relation {
  spdxElementId?: unknown;
  relationshipType?: unknown;
  relatedSpdxElement?: unknown;
}

const identifier = /^SPDXRef-[A-Za-z0-9.-]+$/;
/** Those that our dependencies have; another one is to be looked at by a person before it ships. */
const licenses = new Set([
  ...['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'CC0-1.0', 'GPL-2.0', 'GPL-2.0-only', 'ISC'],
  ...['LGPL-2.1', 'LGPL-3.0-or-later', 'MIT', 'MIT-0', 'MPL-2.0', 'OFL-1.1', 'Python-2.0', 'Unlicense', 'Zlib'],
]);

/** One sentence each; none: the document is sound. */
export function spdxFaults(document: unknown): string[] {
  const { spdxVersion, dataLicense, SPDXID, name, documentNamespace, creationInfo, packages, relationships } = (document ??
    {}) as Record<string, unknown>;
  const faults: string[] = [];
  const need = (isTrue: boolean, sentence: string) => {
    if (!isTrue) faults.push(sentence);
  };
  need(spdxVersion === 'SPDX-2.3', 'spdxVersion is not SPDX-2.3');
  need(dataLicense === 'CC0-1.0', 'dataLicense is not CC0-1.0');
  need(SPDXID === 'SPDXRef-DOCUMENT', 'the document is not SPDXRef-DOCUMENT');
  need(typeof name === 'string' && name !== '', 'the document has no name');
  need(
    typeof documentNamespace === 'string' && /^[a-z]+:[^#\s]+$/.test(documentNamespace),
    'documentNamespace is no URI without fragment',
  );
  const { created, creators } = (creationInfo ?? {}) as { created?: unknown; creators?: unknown };
  need(
    typeof created === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(created),
    'created is no time of UTC in whole seconds',
  );
  const isCreator = (each: unknown) => typeof each === 'string' && /^(Tool|Person|Organization): ./.test(each);
  need(Array.isArray(creators) && creators.length > 0 && creators.every(isCreator), 'nobody is named as creator');
  const parts = (Array.isArray(packages) ? packages : []) as Part[];
  const ids = parts.map((part) => String(part.SPDXID));
  need(
    new Set(ids).size === ids.length,
    `two parts have one identifier: ${ids.filter((id, i) => ids.indexOf(id) !== i).join(', ')}`,
  );
  for (const part of parts) faults.push(...partFaults(part));
  const known = new Set(['SPDXRef-DOCUMENT', ...ids]);
  const links = (Array.isArray(relationships) ? relationships : []) as Relation[];
  for (const { spdxElementId, relatedSpdxElement } of links)
    need(
      known.has(String(spdxElementId)) && known.has(String(relatedSpdxElement)),
      `a relation names what is not there: ${relatedSpdxElement}`,
    );
  need(
    links.filter(({ relationshipType }) => relationshipType === 'DESCRIBES').length === 1,
    'the document does not describe one package',
  );
  const contained = new Set(links.map(({ relatedSpdxElement }) => relatedSpdxElement));
  for (const id of ids) need(contained.has(id), `${id} has no relation`);
  return faults;
}

function partFaults(part: Part): string[] {
  const id = String(part.SPDXID);
  const wrong = [
    [identifier.test(id), 'is no identifier'],
    [typeof part.name === 'string' && part.name !== '', 'has no name'],
    [typeof part.versionInfo === 'string' && part.versionInfo !== '', 'has no version'],
    [typeof part.downloadLocation === 'string', 'has no downloadLocation'],
    [part.filesAnalyzed === false, 'says that files were analysed'],
    [typeof part.copyrightText === 'string', 'has no copyrightText'],
    [isLicense(part.licenseConcluded), `has the license ${part.licenseConcluded}`],
    [isLicense(part.licenseDeclared), `has the license ${part.licenseDeclared}`],
    [(part.externalRefs ?? []).every((each) => /^pkg:npm\/[^@\s]+@[^@\s]+$/.test(String(each.referenceLocator))), 'has no purl'],
  ] as const;
  return wrong.filter(([isRight]) => !isRight).map(([, what]) => `${id} ${what}`);
}

/** An expression of identifiers, AND, OR and brackets. */
function isLicense(expression: unknown): boolean {
  if (typeof expression !== 'string') return false;
  const words = expression.replace(/[()]/g, ' ').trim().split(/\s+/);
  return words.length % 2 === 1 && words.every((word, i) => (i % 2 === 1 ? word === 'AND' || word === 'OR' : licenses.has(word)));
}

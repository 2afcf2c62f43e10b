/** The license of each part that ships: as its package brings it, or written out where the package only names it. */
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { NpmPackage } from '../bundle/npm-package.ts';
import { copyFile, writeFile } from './copy-file.ts';
import { placeIn } from './layout.ts';

const pattern = '{,*/}{LICENSE,LICENCE,License,license,COPYING,NOTICE,LICENSES,ThirdPartyNotices,THIRD-PARTY-NOTICES}*';
/** Where Debian keeps the texts of licenses that many packages have. */
const commonLicenses = '/usr/share/common-licenses';
const common: Record<string, readonly string[]> = {
  'Apache-2.0': ['Apache-2.0'],
  'LGPL-3.0-or-later': ['LGPL-3', 'GPL-3'],
  'LGPL-2.1': ['LGPL-2.1'],
  'MPL-2.0': ['MPL-2.0'],
};

type Named = Pick<NpmPackage, 'name' | 'version' | 'license' | 'author' | 'folder'>;

/** Throws for a license whose text is nowhere. */
export function copyLicenses(destination: string, each: Named): void {
  const folder = placeIn(destination, 'licenses', each.name.replace('/', '__'));
  const files = globSync(pattern, { cwd: each.folder }).filter((path) => statSync(join(each.folder, path)).isFile());
  for (const file of files) copyFile(join(each.folder, file), join(folder, file.replaceAll('/', '-')));
  if (files.length === 0) writeFile(join(folder, 'LICENSE'), `${heading(each)}\n${textOf(each)}`);
}

function heading({ name, version, license, author }: Named): string {
  return `${name} ${version}${author === '' ? '' : `, by ${author}`}\nIts package.json names the license ${license}, whose text it does not bring.\n`;
}

function textOf({ name, license }: Named): string {
  if (license === 'MIT') return mit;
  const files = (common[license] ?? []).map((file) => join(commonLicenses, file));
  if (files.length === 0 || !files.every((file) => existsSync(file)))
    throw new Error(`${name} brings no license, and the text of ${license} is not in ${commonLicenses}`);
  return files.map((file) => readFileSync(file, 'utf8')).join('\n');
}

const mit = `MIT License

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
`;

/** The few answers of S3 that are read, which are XML. */
import { Parser } from 'htmlparser2';

interface S3Listing {
  readonly files: readonly { readonly key: string; readonly modifiedAt: number }[];
  /** Where the next page begins; undefined: this was the last. */
  readonly next: string | undefined;
}

type Texts = readonly { readonly path: string; readonly text: string }[];

/** Undefined where the answer is no list. */
export function readListing(xml: string): S3Listing | undefined {
  const texts = readTexts(xml);
  const of = (path: string): string[] => texts.flatMap((each) => (each.path === path ? [each.text] : []));
  const [isTruncated] = of('ListBucketResult/IsTruncated');
  const keys = of('ListBucketResult/Contents/Key');
  const times = of('ListBucketResult/Contents/LastModified').map(Date.parse);
  if (isTruncated === undefined || times.length !== keys.length || times.some(Number.isNaN)) return undefined;
  const [next] = of('ListBucketResult/NextContinuationToken');
  if (isTruncated === 'true' && next === undefined) return undefined;
  return { files: keys.map((key, i) => ({ key, modifiedAt: times[i] ?? 0 })), next: isTruncated === 'true' ? next : undefined };
}

/** `NoSuchKey`; undefined for what is no refusal. */
export function readErrorCode(xml: string): string | undefined {
  const code = readTexts(xml).find(({ path }) => path === 'Error/Code')?.text;
  return code !== undefined && /^[A-Za-z0-9]{1,80}$/.test(code) ? code : undefined;
}

/** The text of each element that has no element inside, in order. */
function readTexts(xml: string): Texts {
  const texts: { path: string; text: string }[] = [];
  const open: string[] = [];
  let text = '';
  const parser = new Parser(
    {
      onopentagname: (name) => {
        open.push(name);
        text = '';
      },
      ontext: (more) => {
        text += more;
      },
      onclosetag: () => {
        texts.push({ path: open.join('/'), text });
        open.pop();
        text = '';
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(xml);
  return texts;
}

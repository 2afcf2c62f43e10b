import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import t from 'tap';
import { decodeText, detectCharset } from './charset.ts';

const texts: Readonly<Record<string, readonly [string, ...string[]]>> = {
  'windows-1252': [
    'Die Gebühr beträgt 12 € für jede Nacht im Hafen, größere Schiffe zahlen „mehr“.',
    'L’été, la marée monte très haut à Saint-Malo.',
  ],
  'windows-1251': ['Гавань была построена в тысяча девятьсот одиннадцатом году. Плата за ночь невелика.'],
  'koi8-r': ['Гавань была построена в тысяча девятьсот одиннадцатом году. Плата за ночь невелика.'],
  ibm866: ['Гавань была построена в тысяча девятьсот одиннадцатом году. Плата за ночь невелика.'],
  'windows-1250': ['Přístav byl postaven v roce 1911 a větší lodě platí víc. Příliš žluťoučký kůň úpěl ďábelské ódy.'],
  'windows-1253': ['Το λιμάνι χτίστηκε το 1911 και τα μεγάλα πλοία πληρώνουν περισσότερα.'],
  'windows-1255': ['הנמל נבנה בשנת אלף תשע מאות ואחת עשרה והאגרה ללילה נמוכה'],
  'windows-1256': ['تم بناء الميناء في عام ١٩١١ والرسوم منخفضة لكل ليلة في الميناء'],
  shift_jis: ['港は千九百十一年に作られました。料金は一晩で十二ユーロです。カタカナもあります。'],
  'euc-jp': ['港は千九百十一年に作られました。料金は一晩で十二ユーロです。カタカナもあります。'],
  gb18030: ['这个港口是在一九一一年建成的，大船的费用比小船多。我们都在这里。'],
  big5: ['這個港口是在一九一一年建成的，大船的費用比小船多。我們都在這裡。'],
  'euc-kr': ['이 항구는 천구백십일년에 지어졌으며 큰 배는 더 많은 요금을 냅니다.'],
};

/** Node decodes these encodings and does not write them; iconv does. */
function encode(text: string, encoding: string): Buffer | undefined {
  try {
    return execFileSync('iconv', ['-f', 'utf-8', '-t', encoding === 'ibm866' ? 'cp866' : encoding], {
      input: text,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
  } catch {
    return undefined;
  }
}

for (const [encoding, samples] of Object.entries(texts))
  for (const text of samples) {
    const bytes = encode(text, encoding);
    const skip = bytes === undefined && 'this machine has no iconv for it';
    t.test(`${encoding} is told by its bytes`, { skip }, (t) => {
      t.equal(decodeText(bytes ?? Buffer.alloc(0)), text);
      t.equal(
        decodeText(Buffer.concat([Buffer.from('ASCII text first. '.repeat(9000)), bytes ?? Buffer.alloc(0)])).slice(-text.length),
        text,
      );
      t.end();
    });
  }

t.test('marks, UTF-16 without one, and declarations', (t) => {
  const text = 'Größe der Häfen';
  t.equal(decodeText(Buffer.from(`\ufeff${text}`)), text);
  t.equal(decodeText(Buffer.from(`\ufeff${text}`, 'utf16le')), text);
  t.equal(decodeText(Buffer.from(`\ufeff${text}`, 'utf16le').swap16()), text);
  t.equal(decodeText(Buffer.from(text, 'utf16le')), text);
  t.equal(decodeText(Buffer.from(text, 'utf16le').swap16()), text);
  t.equal(detectCharset(Buffer.from(text), 'no-such-charset'), 'utf-8');
  t.equal(decodeText(Buffer.from('Gr\xf6\xdfe', 'latin1'), 'iso-8859-1'), 'Größe');
  t.equal(
    decodeText(Buffer.from('Gr\xf6\xdfe der H\xe4fen', 'latin1'), 'utf-8'),
    text,
    'what is declared wrongly is not believed',
  );
  t.end();
});

t.test('every UTF-8 text is itself, and no bytes fail', (t) => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }).filter((text) => !text.startsWith('\ufeff') && !text.includes('\0')),
      (text) => decodeText(Buffer.from(text)) === text.toWellFormed(),
    ),
  );
  fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => typeof decodeText(bytes) === 'string'));
  t.end();
});

/** Units behind or before a number, by what they measure: km and kilometres are one, and so are 2 km and 2,000 m. */

export interface Unit {
  readonly dimension: string;
  /** Of the dimension's first unit. */
  readonly factor: number;
}

/** Each with its names, in the languages that write it in their own way. */
const UNITS: readonly (readonly [dimension: string, factor: number, names: string])[] = [
  ['m', 1, 'm metre metres meter meters metern mètre mètres metro metros metri метр метра метров 米'],
  [
    'm',
    1_000,
    'km kilometre kilometres kilometer kilometers kilometern kilomètres kilómetros chilometri километр километра километров 公里',
  ],
  ['m', 0.01, 'cm centimetre centimetres centimeter centimeters zentimeter zentimetern сантиметров 厘米'],
  ['m', 0.001, 'mm millimetre millimetres millimeter millimeters millimetern 毫米'],
  ['m', 1_609.344, 'mile miles meile meilen mi 英里'],
  ['m', 0.3048, 'ft foot feet fuß 英尺'],
  ['m', 0.0254, 'inch inches zoll'],
  ['m', 0.9144, 'yard yards yd'],
  ['m²', 1, 'm² m2 sqm quadratmeter quadratmetern 平方米'],
  ['m²', 1e6, 'km² km2 quadratkilometer quadratkilometern 平方公里'],
  ['m²', 1e4, 'ha hectare hectares hektar'],
  ['m²', 4_046.856, 'acre acres'],
  ['g', 1, 'g gram grams gramm gramme grammes'],
  ['g', 1_000, 'kg kilo kilos kilogram kilograms kilogramm килограмм килограммов 公斤 千克'],
  ['g', 0.001, 'mg milligram milligrams milligramm'],
  ['g', 1e6, 't tonne tonnes tonnen тонн 吨'],
  ['g', 453.592, 'lb lbs pound pounds'],
  ['l', 1, 'l litre litres liter liters litern litro litros litri литр литра литров 升'],
  ['l', 0.001, 'ml millilitre millilitres milliliter millilitern 毫升'],
  ['l', 1_000, 'm³ m3 kubikmeter kubikmetern 立方米'],
  ['l', 3.785, 'gallon gallons gallonen'],
  ['s', 1, 's sec second seconds sekunde sekunden secondes segundos secondi секунд 秒'],
  ['s', 60, 'min minute minutes minuten minutos minuti минут 分钟'],
  ['s', 3_600, 'h hour hours hr hrs stunde stunden heure heures horas ore час часа часов 小时'],
  ['s', 86_400, 'day days tag tage tagen jour jours días giorni день дня дней 天'],
  ['s', 604_800, 'week weeks woche wochen semaine semaines semanas settimane недель недели 周'],
  ['month', 1, 'month months monat monate monaten mois meses mesi месяц месяца месяцев 个月'],
  ['month', 12, 'year years yr yrs jahr jahre jahren an ans année années año años anni год года лет'],
  ['%', 1, '% percent prozent pourcent процент процента процентов'],
  ['°C', 1, '°c celsius'],
  ['°F', 1, '°f fahrenheit'],
  ['°', 1, '° degree degrees grad'],
  ['W', 1, 'w watt watts'],
  ['W', 1_000, 'kw kilowatt kilowatts'],
  ['W', 1e6, 'mw megawatt megawatts'],
  ['Wh', 1_000, 'kwh kilowattstunden'],
  ['V', 1, 'v volt volts'],
  ['A', 1, 'ampere amps'],
  ['Hz', 1, 'hz hertz'],
  ['Hz', 1_000, 'khz'],
  ['Hz', 1e6, 'mhz'],
  ['Hz', 1e9, 'ghz'],
  ['byte', 1, 'byte bytes'],
  ['byte', 1e3, 'kb kilobyte kilobytes'],
  ['byte', 1e6, 'mb megabyte megabytes'],
  ['byte', 1e9, 'gb gigabyte gigabytes'],
  ['byte', 1e12, 'tb terabyte terabytes'],
  ['bar', 1, 'bar'],
  ['km/h', 1, 'km/h kph stundenkilometer stundenkilometern'],
  ['km/h', 1.609344, 'mph'],
  ['GBP', 1, '£ gbp pound pounds pfund sterling фунтов 英镑'],
  ['EUR', 1, '€ eur euro euros евро 欧元'],
  ['USD', 1, '$ usd dollar dollars доллар доллара долларов 美元'],
  ['CHF', 1, 'chf franken francs'],
  ['JPY', 1, '¥ jpy yen'],
  ['CNY', 1, '元 yuan cny 人民币'],
  ['RUB', 1, '₽ rub рубль рубля рублей'],
  ['0.01', 1, 'cent cents pence pennies'],
];

/** A name may stand for several, as pounds do. */
const BY_NAME = new Map<string, Unit[]>();
for (const [dimension, factor, names] of UNITS)
  for (const name of names.split(' ')) BY_NAME.set(name, [...(BY_NAME.get(name) ?? []), { dimension, factor }]);

const BEHIND = /^[\s\u00a0\u202f-]?((?:square |cubic )?[\p{L}°%€$£¥₽²³]+(?:\/h)?[23²³]?)/u;
const BEFORE = /([€$£¥₽]|(?:EUR|USD|GBP|CHF|US\$))\s?$/u;
const CHINESE = /^[个]?[\p{sc=Han}]{1,4}/u;

interface FoundUnit {
  readonly units: readonly Unit[];
  readonly start: number;
  readonly end: number;
}

/** Of the number that stands from `start` to before `end`. */
export function unitBeside(text: string, start: number, end: number): FoundUnit | undefined {
  const rest = text.slice(end, end + 30);
  const [whole = '', name = ''] = BEHIND.exec(rest) ?? [];
  const square = name.startsWith('square ') ? '²' : name.startsWith('cubic ') ? '³' : '';
  const plain = name.toLowerCase().replace(/^(?:square|cubic) /, '');
  const units = square === '' ? find(plain) : find(`${shortOf(plain)}${square}`);
  if (units !== undefined) return { units, start, end: end + whole.length };
  if (/^[\s-]?per cent\b/i.test(rest)) return { units: [{ dimension: '%', factor: 1 }], start, end: end + 9 };
  const run = CHINESE.exec(rest)?.[0] ?? '';
  for (let length = run.length; length > 0; length--) {
    const found = BY_NAME.get(run.slice(0, length));
    if (found !== undefined) return { units: found, start, end: end + length };
  }
  const [before = '', symbol = ''] = BEFORE.exec(text.slice(Math.max(0, start - 5), start)) ?? [];
  const money = find(symbol.toLowerCase().replace('us$', '$'));
  return money === undefined ? undefined : { units: money, start: start - before.length, end };
}

function find(name: string): Unit[] | undefined {
  return name === '' ? undefined : BY_NAME.get(name);
}

/** Of "square metres" and the like. */
function shortOf(name: string): string {
  const unit = find(name)?.find(({ dimension }) => dimension === 'm');
  return unit?.factor === 1 ? 'm' : unit?.factor === 1_000 ? 'km' : name;
}

/** Made-up people who say facts about themselves in many conversations, in English and German: some change, some are said again, some are never said. */

/** One fact that a person may have. In each text, `@` stands for its value. */
interface Topic {
  readonly says: string;
  readonly saysAgain: string;
  readonly changes: string;
  readonly asks: string;
  readonly values: readonly string[];
}

interface Said {
  /** Counts the conversations of the person. */
  readonly conversation: number;
  readonly text: string;
}

interface Asked {
  readonly question: string;
  /** The statements that answer it; none: nothing was said of it. */
  readonly answers: readonly string[];
  /** The statement that held before; undefined: it never changed. */
  readonly outdated: string | undefined;
}

export interface History {
  readonly name: string;
  readonly language: 'en' | 'de';
  /** Statements stand in the order in which they were said. */
  readonly said: readonly Said[];
  readonly asked: readonly Asked[];
}

const CONVERSATIONS = 60;
const N_SINGLE = 15;
const N_CHANGED = 12;
const N_SAID_AGAIN = 12;

export function makeHistory(index: number): History {
  const random = generator(index + 1);
  const language = index % 2 === 0 ? 'en' : 'de';
  const all = language === 'en' ? ENGLISH : GERMAN;
  // The first topics have one value at a time, by the rules that supersede.
  const changing = shuffled(all.slice(0, N_SINGLE), random).slice(0, N_CHANGED);
  const others = shuffled(all, random).filter((topic) => !changing.includes(topic));
  const topics = [...changing, ...others];
  const said = topics.slice(0, CONVERSATIONS - N_CHANGED - N_SAID_AGAIN);
  const facts = said.map((topic, i) => {
    const [value = '', next = ''] = shuffled(topic.values, random);
    return { topic, value, next: i < N_CHANGED ? next : undefined, isSaidAgain: i >= said.length - N_SAID_AGAIN };
  });
  const first = shuffled(facts, random).map(({ topic, value }) => fill(topic.says, value));
  const later = shuffled(facts, random).flatMap(({ topic, value, next, isSaidAgain }) => {
    if (next !== undefined) return [fill(topic.changes, next)];
    return isSaidAgain ? [fill(topic.saysAgain, value)] : [];
  });
  return {
    name: `person${index}`,
    language,
    said: [...first, ...later].map((text, conversation) => ({ conversation, text })),
    asked: [
      ...facts.map(({ topic, value, next }) => ({
        question: topic.asks,
        answers: next === undefined ? [fill(topic.says, value), fill(topic.saysAgain, value)] : [fill(topic.changes, next)],
        outdated: next === undefined ? undefined : fill(topic.says, value),
      })),
      ...topics.slice(said.length).map(({ asks }) => ({ question: asks, answers: [], outdated: undefined })),
    ],
  };
}

function fill(text: string, value: string): string {
  return text.replace('@', value);
}

function shuffled<T>(given: readonly T[], random: () => number): T[] {
  const all = [...given];
  for (let i = all.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [all[i], all[j]] = [all[j] as T, all[i] as T];
  }
  return all;
}

/** Numbers from 0 to 1 that follow from the seed (Park and Miller). */
function generator(seed: number): () => number {
  let state = (seed * 7_919) % 2_147_483_647;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** Each line is what is said, the same in other words, the change, the question, and values. */
function topicsOf(lines: string): Topic[] {
  return lines
    .trim()
    .split('\n')
    .map((line) => {
      const [says = '', saysAgain = '', changes = '', asks = '', values = ''] = line.split(' | ');
      return { says, saysAgain, changes, asks, values: values.split(', ') };
    });
}

const ENGLISH = topicsOf(`
I live in @ | I live in @. | I moved to @ | Which city do I live in? | Berlin, Munich, Oslo, Lisbon, Dublin
I work at @ | I work for @ now | I have joined @ | Which company do I work for? | Initech, Globex, Umbrella, Hooli, Stark Industries
My favourite colour is @ | my favourite color is @ | My favourite colour is now @ | What colour do I like most? | blue, green, purple, orange
My boss is @ | My boss is @! | My boss is now @ | Who is my boss? | Ingrid, Walter, Priya, Tobias
My birthday is @ | My birthday is @. | My birthday was changed to @ | When is my birthday? | March 3, July 19, October 8
My shoe size is @ | my shoe size is @. | My shoe size is now @ | Which shoe size do I wear? | 39, 42, 44
My budget for the kitchen is @ | My budget for the kitchen is @. | My budget for the kitchen is now @ | How much may the kitchen cost? | 9000 euros, 12000 euros, 15000 euros
My dentist is @ | My dentist is @. | My dentist is now @ | Who looks after my teeth, which dentist? | Doctor Brown, Doctor Sato, Doctor Weiss
My favourite dish is @ | my favourite dish is @. | My favourite dish is now @ | Which dish do I like most? | lasagna, ramen, goulash
My phone number is @ | My phone number is @. | My phone number changed to @ | What is my phone number? | 555 0101, 555 0199, 555 0144
My landlord is @ | My landlord is @. | My landlord is now @ | Who is my landlord? | Mister Novak, Misses Hart, Mister Olsen
The deadline of my thesis is @ | The deadline of my thesis is @. | The deadline of my thesis was changed to @ | When is the deadline of my thesis? | May 4, June 12, August 30
My favourite band is @ | my favourite band is @. | My favourite band is now @ | Which band do I like best? | The Lanterns, Blue Harbor, Stone Foxes
My office is @ | My office is @. | My office is now @ | Where is my office? | room 204, room 318, room 12
My license plate is @ | My license plate is @. | My license plate is now @ | What is the license plate of my car? | KX 2210, RB 9034, MT 7777
My sister is called @ | My sister is called @. | My sister is called @ | What is the name of my sister? | Clara, Hanna, Lucy
My dog is called @ | My dog is called @. | My dog is called @ | What is my dog called? | Rex, Bello, Pixel
I am allergic to @ | I am really allergic to @ | I am allergic to @ | What am I allergic to? | peanuts, cats, pollen
I play the @ | I play the @. | I play the @ | Which instrument do I play? | violin, trumpet, piano
My car is a @ | My car is a @. | My car is a @ | What car do I drive? | Volvo, Skoda, Toyota
I am learning @ | I am learning @. | I am learning @ | Which language am I learning? | Japanese, Finnish, Swahili
I go swimming on @ | On @ I go swimming | I go swimming on @ | On which day do I go swimming? | Tuesdays, Thursdays, Sundays
My daughter studies @ | My daughter studies @. | My daughter studies @ | What does my daughter study? | biology, law, history
My grandmother comes from @ | My grandmother comes from @. | My grandmother comes from @ | Where does my grandmother come from? | Poland, Greece, Chile
I collect @ | I collect @. | I collect @ | What do I collect? | stamps, coins, postcards
I broke my @ skiing | I broke my @ while skiing | I broke my @ skiing | What did I break while skiing? | arm, wrist, leg
My wifi router is from @ | My wifi router is from @. | My wifi router is from @ | Who made my wifi router? | Netgear, Asus, Linksys
I prefer @ on long trains | On long trains I prefer @ | I prefer @ on long trains | What do I prefer on long trains? | window places, quiet cars, the restaurant car
My garden has @ | My garden has @. | My garden has @ | What grows in my garden? | roses, tomatoes, apple trees
My neighbour repairs @ | My neighbour repairs @. | My neighbour repairs @ | What does my neighbour repair? | clocks, bicycles, radios
I drink my coffee with @ | I drink my coffee with @. | I drink my coffee with @ | How do I drink my coffee? | oat milk, two sugars, cinnamon
My brother lives on @ | My brother lives on @. | My brother lives on @ | Where does my brother live? | Malta, Crete, Iceland
I proposed at the @ | I proposed at the @. | I proposed at the @ | Where did I propose? | lighthouse, old bridge, harbour
My gym closes at @ | My gym closes at @. | My gym closes at @ | When does my gym close? | nine, ten, eleven
My doctoral advisor is @ | My doctoral advisor is @. | My doctoral advisor is @ | Who is my doctoral advisor? | Professor Lind, Professor Adler, Professor Mori
I want to visit @ next summer | Next summer I want to visit @ | I want to visit @ next summer | Where do I want to travel next summer? | Patagonia, Scotland, Vietnam
My bicycle was stolen in @ | My bicycle was stolen in @. | My bicycle was stolen in @ | When was my bicycle stolen? | April, June, November
I sing in the @ choir | I sing in the @ choir. | I sing in the @ choir | In which choir do I sing? | cathedral, university, police
My laptop has a broken @ | My laptop has a broken @. | My laptop has a broken @ | What is broken on my laptop? | hinge, keyboard, fan
My mother taught @ | My mother taught @. | My mother taught @ | What did my mother teach? | chemistry, music, Latin
I read @ novels before sleeping | Before sleeping I read @ novels | I read @ novels before sleeping | Which novels do I read before sleeping? | crime, science fiction, history
My parrot says @ | My parrot says @. | My parrot says @ | What does my parrot say? | hello captain, good night, where is Tom
I donate to @ each year | Each year I donate to @ | I donate to @ each year | To whom do I donate each year? | the sea rescue, the animal shelter, the library
My apartment is on the @ floor | My apartment is on the @ floor. | My apartment is on the @ floor | On which floor is my apartment? | second, fourth, seventh
`);

const GERMAN = topicsOf(`
Ich wohne in @ | Ich wohne in @. | Ich bin nach @ gezogen | In welcher Stadt wohne ich? | Berlin, München, Oslo, Lissabon, Dublin
Ich arbeite bei @ | Ich arbeite jetzt bei @ | Ich arbeite jetzt bei @ | Bei welcher Firma arbeite ich? | Initech, Globex, Umbrella, Hooli
Meine Lieblingsfarbe ist @ | meine Lieblingsfarbe ist @. | Meine Lieblingsfarbe ist jetzt @ | Welche Lieblingsfarbe habe ich? | Blau, Grün, Violett, Orange
Mein Chef ist @ | Mein Chef ist @! | Mein Chef ist jetzt @ | Wer ist mein Chef? | Walter, Tobias, Herr Krause
Mein Geburtstag ist @ | Mein Geburtstag ist @. | Mein Geburtstag ist jetzt @ | Wann ist mein Geburtstag? | am 3 März, am 19 Juli, am 8 Oktober
Meine Schuhgröße ist @ | Meine Schuhgröße ist @. | Meine Schuhgröße ist jetzt @ | Welche Schuhgröße habe ich? | 39, 42, 44
Mein Budget für die Küche ist @ | Mein Budget für die Küche ist @. | Mein Budget für die Küche ist jetzt @ | Welches Budget habe ich für die Küche? | 9000 Euro, 12000 Euro, 15000 Euro
Mein Zahnarzt ist @ | Mein Zahnarzt ist @. | Mein Zahnarzt ist jetzt @ | Wer ist mein Zahnarzt? | Doktor Braun, Doktor Sato, Doktor Weiss
Mein Lieblingsessen ist @ | mein Lieblingsessen ist @. | Mein Lieblingsessen ist jetzt @ | Was ist mein Lieblingsessen? | Lasagne, Ramen, Gulasch
Meine Telefonnummer ist @ | Meine Telefonnummer ist @. | Meine Telefonnummer lautet @ | Wie lautet meine Telefonnummer? | 555 0101, 555 0199, 555 0144
Mein Vermieter ist @ | Mein Vermieter ist @. | Mein Vermieter ist jetzt @ | Wer ist mein Vermieter? | Herr Novak, Frau Hart, Herr Olsen
Die Frist für meine Abschlussarbeit ist @ | Die Frist für meine Abschlussarbeit ist @. | Die Frist für meine Abschlussarbeit wurde auf @ | Wann ist die Frist für meine Abschlussarbeit? | den 4 Mai, den 12 Juni, den 30 August
Meine Lieblingsband ist @ | meine Lieblingsband ist @. | Meine Lieblingsband ist jetzt @ | Welche Lieblingsband habe ich? | Die Laternen, Blauer Hafen, Steinfuchs
Mein Büro ist @ | Mein Büro ist @. | Mein Büro ist jetzt @ | Wo ist mein Büro? | Raum 204, Raum 318, Raum 12
Mein Kennzeichen ist @ | Mein Kennzeichen ist @. | Mein Kennzeichen ist jetzt @ | Welches Kennzeichen hat mein Auto? | KX 2210, RB 9034, MT 7777
Meine Schwester heißt @ | Meine Schwester heißt @. | Meine Schwester heißt @ | Wie heißt meine Schwester? | Clara, Hanna, Lucie
Mein Hund heißt @ | Mein Hund heißt @. | Mein Hund heißt @ | Wie heißt mein Hund? | Rex, Bello, Pixel
Ich bin allergisch gegen @ | Ich bin sehr allergisch gegen @ | Ich bin allergisch gegen @ | Wogegen bin ich allergisch? | Erdnüsse, Katzen, Pollen
Ich spiele @ | Ich spiele @. | Ich spiele @ | Welches Instrument spiele ich? | Geige, Trompete, Klavier
Mein Auto ist ein @ | Mein Auto ist ein @. | Mein Auto ist ein @ | Welches Auto fahre ich? | Volvo, Skoda, Toyota
Ich lerne gerade die Sprache @ | Ich lerne gerade die Sprache @. | Ich lerne gerade die Sprache @ | Welche Sprache lerne ich? | Japanisch, Finnisch, Suaheli
Ich gehe immer am @ schwimmen | Immer am @ gehe ich schwimmen | Ich gehe immer am @ schwimmen | An welchem Tag gehe ich schwimmen? | Dienstag, Donnerstag, Sonntag
Meine Tochter studiert @ | Meine Tochter studiert @. | Meine Tochter studiert @ | Was studiert meine Tochter? | Biologie, Jura, Geschichte
Meine Großmutter kommt aus @ | Meine Großmutter kommt aus @. | Meine Großmutter kommt aus @ | Woher kommt meine Großmutter? | Polen, Griechenland, Chile
Ich sammle @ | Ich sammle @. | Ich sammle @ | Was sammle ich? | Briefmarken, Münzen, Postkarten
Ich habe mir beim Skifahren @ gebrochen | Beim Skifahren habe ich mir @ gebrochen | Ich habe mir beim Skifahren @ gebrochen | Was habe ich mir beim Skifahren gebrochen? | den Arm, das Handgelenk, das Bein
Mein Router ist von @ | Mein Router ist von @. | Mein Router ist von @ | Von wem ist mein Router? | Netgear, Asus, Linksys
In langen Zügen mag ich @ | Ich mag in langen Zügen @ | In langen Zügen mag ich @ | Was mag ich in langen Zügen? | Fensterplätze, den Ruhewagen, den Speisewagen
In meinem Garten wachsen @ | In meinem Garten wachsen @. | In meinem Garten wachsen @ | Was wächst in meinem Garten? | Rosen, Tomaten, Apfelbäume
Mein Nachbar repariert @ | Mein Nachbar repariert @. | Mein Nachbar repariert @ | Was repariert mein Nachbar? | Uhren, Fahrräder, Radios
Ich trinke Kaffee mit @ | Ich trinke Kaffee mit @. | Ich trinke Kaffee mit @ | Wie trinke ich meinen Kaffee? | Hafermilch, Zucker, Zimt
Mein Bruder lebt auf @ | Mein Bruder lebt auf @. | Mein Bruder lebt auf @ | Wo lebt mein Bruder? | Malta, Kreta, Island
Den Heiratsantrag machte ich am @ | Den Heiratsantrag machte ich am @. | Den Heiratsantrag machte ich am @ | Wo machte ich den Heiratsantrag? | Leuchtturm, Hafen, Marktplatz
Mein Fitnessstudio schließt um @ | Mein Fitnessstudio schließt um @. | Mein Fitnessstudio schließt um @ | Wann schließt mein Fitnessstudio? | neun, zehn, elf
Meine Doktorarbeit betreut @ | Meine Doktorarbeit betreut @. | Meine Doktorarbeit betreut @ | Wer betreut meine Doktorarbeit? | Professor Lind, Professor Adler, Professor Mori
Nächsten Sommer will ich nach @ reisen | Ich will nächsten Sommer nach @ reisen | Nächsten Sommer will ich nach @ reisen | Wohin will ich nächsten Sommer reisen? | Patagonien, Schottland, Vietnam
Mein Fahrrad wurde im @ gestohlen | Im @ wurde mein Fahrrad gestohlen | Mein Fahrrad wurde im @ gestohlen | Wann wurde mein Fahrrad gestohlen? | April, Juni, November
Ich singe im Chor @ | Ich singe im Chor @. | Ich singe im Chor @ | In welchem Chor singe ich? | der Kathedrale, der Universität, der Polizei
An meinem Laptop ist @ kaputt | An meinem Laptop ist @ kaputt. | An meinem Laptop ist @ kaputt | Was ist an meinem Laptop kaputt? | das Scharnier, die Tastatur, der Lüfter
Meine Mutter unterrichtete @ | Meine Mutter unterrichtete @. | Meine Mutter unterrichtete @ | Was unterrichtete meine Mutter? | Chemie, Musik, Latein
Vor dem Schlafen lese ich @ | Ich lese @ vor dem Schlafen | Vor dem Schlafen lese ich @ | Was lese ich vor dem Schlafen? | Krimis, Zukunftsromane, Gedichte
Mein Papagei sagt @ | Mein Papagei sagt @. | Mein Papagei sagt @ | Was sagt mein Papagei? | hallo Kapitän, gute Nacht, wo ist Tom
Jedes Jahr spende ich für @ | Ich spende jedes Jahr für @ | Jedes Jahr spende ich für @ | Wofür spende ich jedes Jahr? | die Seenotrettung, das Tierheim, die Bücherei
Meine Wohnung liegt im @ Stock | Meine Wohnung liegt im @ Stock. | Meine Wohnung liegt im @ Stock | In welchem Stock liegt meine Wohnung? | zweiten, vierten, siebten
`);

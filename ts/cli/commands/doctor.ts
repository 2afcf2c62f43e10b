import { command } from '../command.ts';
import { examine } from '../doctor/examine.ts';

export const doctor = command({
  words: ['doctor'],
  summary: 'Check this machine, the configuration and the models, and say what to do',
  examples: ['svc doctor', 'svc doctor --json'],
  async run(invocation) {
    const findings = await examine(invocation);
    const isBroken = findings.some(({ state }) => state === 'broken');
    const lines = findings.map(
      ({ name, state, finding, remedy }) =>
        `${marks[state]} ${name.padEnd(16)} ${finding}${remedy === undefined ? '' : `\n${' '.repeat(25)}-> ${remedy}`}`,
    );
    const conclusion = isBroken ? 'Something is broken.' : 'Nothing is broken.';
    invocation.terminal.result({ ok: !isBroken, checks: findings }, [...lines, '', conclusion].join('\n'));
    return isBroken ? 'failed' : 'ok';
  },
});

const marks = { ok: 'ok     ', warning: 'warning', broken: 'BROKEN ' } as const;

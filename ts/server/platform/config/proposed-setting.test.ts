import { parse } from 'smol-toml';
import t from 'tap';
import Type from 'typebox';
import { proposeSetting } from './proposed-setting.ts';
import { integerSchema, setting, textSchema } from './setting.ts';

const spec = {
  'a.count': setting(integerSchema(1, 10), 2, 'How many.'),
  'a.on': setting(Type.Boolean(), false, 'Whether.'),
  'a.text': setting(textSchema, '', 'What.'),
};

t.test('a value that the setting takes comes back as lines that say the same', async (t) => {
  t.match(proposeSetting({ spec }, 'a.count', '7'), { toml: 'a.count = 7', environment: 'SVC_A_COUNT=7' });
  t.match(proposeSetting({ spec }, 'a.on', 'yes'), { toml: 'a.on = true', environment: 'SVC_A_ON=true' });
  for (const text of [
    'plain',
    '',
    `it's "quoted" \\ here`,
    'line\nbreak',
    '$(reboot)',
    'ü \u0007 \u007f \u{1F600}',
    'x = 1\n[y]',
  ]) {
    const { toml = '' } = proposeSetting({ spec }, 'a.text', text) ?? {};
    t.match(parse(toml), { a: { text } }, JSON.stringify(text));
  }
  t.equal(proposeSetting({ spec }, 'a.text', `it's`)?.environment, `SVC_A_TEXT='it'\\''s'`);
});

t.test('a value that it does not take is refused with what it takes', async (t) => {
  t.throws(() => proposeSetting({ spec }, 'a.count', '11'), { code: 'invalid_config', message: /a\.count.*10.*How many\./ });
  t.throws(() => proposeSetting({ spec }, 'a.on', 'perhaps'), { code: 'invalid_config' });
  t.equal(proposeSetting({ spec }, 'a.none', '1'), undefined);
  t.equal(proposeSetting({ spec }, 'toString', '1'), undefined);
});

import { useState } from 'preact/hooks';
import { CheckList } from '../../design/check-list.tsx';
import { SelectField } from '../../design/select-field.tsx';
import { Switch } from '../../design/switch.tsx';
import { TextArea } from '../../design/text-area.tsx';
import { TextField } from '../../design/text-field.tsx';
import { t } from '../../i18n/language.ts';

const ignore = (): void => {};

export function FieldSamples() {
  const [text, setText] = useState('svc');
  const [isOn, setOn] = useState(true);
  const [choice, setChoice] = useState('first');
  const [chosen, setChosen] = useState(['first']);
  const options = [
    { value: 'first', text: t('sample_first'), hint: t('sample_hint') },
    { value: 'second', text: t('sample_second') },
  ];
  const wrong = t('sample_wrong');
  const hint = t('sample_hint');
  return (
    <section class="card stack" aria-label={t('sample_fields')}>
      <h2>{t('sample_fields')}</h2>
      <TextField label={t('sample_field')} hint={hint} value={text} onInput={setText} />
      <TextField label={`${t('sample_field')}: ${wrong}`} wrong={wrong} hint={hint} value="ada@" onInput={ignore} />
      <TextField label={`${t('sample_field')}: ${t('sample_disabled')}`} value="svc" disabled onInput={ignore} />
      <TextArea label={t('sample_field_long')} hint={hint} rows={2} value={text} onInput={setText} />
      <TextArea label={t('sample_field_code')} wrong={wrong} hint={hint} rows={2} isCode value={'{ "a": 1 }'} onInput={ignore} />
      <SelectField label={t('sample_one')} hint={hint} value={choice} options={options} onChange={setChoice} />
      <SelectField
        label={`${t('sample_one')}: ${t('sample_disabled')}`}
        hint={hint}
        value="first"
        options={options}
        disabled
        onChange={ignore}
      />
      <CheckList label={t('sample_many')} options={options} chosen={chosen} onChange={setChosen} />
      <Switch label={t('sample_switch')} checked={isOn} onChange={setOn} />
      <Switch label={t('sample_disabled')} checked={false} disabled onChange={ignore} />
    </section>
  );
}

/** Every component in every state, to look at and to be checked by machine. */
import { useState } from 'preact/hooks';
import { Badge, type Tone } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Empty } from '../../design/empty.tsx';
import { Icon } from '../../design/icon.tsx';
import { Menu } from '../../design/menu.tsx';
import { Notice } from '../../design/notice.tsx';
import { Progress } from '../../design/progress.tsx';
import { Secret } from '../../design/secret.tsx';
import { SelectField } from '../../design/select-field.tsx';
import { Switch } from '../../design/switch.tsx';
import { Table } from '../../design/table.tsx';
import { Tabs } from '../../design/tabs.tsx';
import { TextField } from '../../design/text-field.tsx';
import { showToast } from '../../design/toasts.tsx';
import { t } from '../../i18n/language.ts';
import { ScreenFrame } from '../screen-frame.tsx';

const LOOKS = ['main', 'plain', 'danger', 'bare'] as const;
const TONES: readonly Tone[] = ['neutral', 'good', 'warn', 'danger', 'accent'];
const COLOURS = [
  'paper',
  'sheet',
  'well',
  'hover',
  'line',
  'line-strong',
  'ink',
  'ink-2',
  'ink-3',
  'accent',
  'accent-soft',
  'danger',
  'danger-soft',
  'warn',
  'warn-soft',
  'good',
  'good-soft',
  'mark',
];
const ignore = (): void => {};

export function Components() {
  const [text, setText] = useState('svc');
  const [tab, setTab] = useState('one');
  const [isOn, setOn] = useState(true);
  const [isOpen, setOpen] = useState(false);
  return (
    <ScreenFrame title={t('components')} detail={t('components_detail')}>
      <div class="gallery">
        <section class="card stack" aria-label="Buttons">
          <h2>Buttons</h2>
          {LOOKS.map((look) => (
            <div class="row" key={look}>
              <Button look={look}>{look}</Button>
              <Button look={look} icon="plus">
                with icon
              </Button>
              <Button look={look} size="small">
                small
              </Button>
              <Button look={look} icon="settings" label={`${look} icon`} />
              <Button look={look} busy>
                busy
              </Button>
              <Button look={look} disabled>
                disabled
              </Button>
            </div>
          ))}
          <div class="row">
            <Button aria-pressed icon="ghost">
              pressed
            </Button>
            <Menu
              items={[
                { text: 'Rename', icon: 'edit', run: ignore },
                { text: 'Chosen', isChosen: true, run: ignore },
                { text: 'Delete', icon: 'trash', isDangerous: true, isApart: true, run: ignore },
              ]}
              look="plain"
              icon="more"
            >
              Menu
            </Menu>
            <Button look="plain" onClick={() => setOpen(true)}>
              Dialog
            </Button>
            <Button look="plain" onClick={() => showToast('Saved')}>
              Toast
            </Button>
          </div>
        </section>
        <section class="card stack" aria-label="Fields">
          <h2>Fields</h2>
          <TextField label="Text" hint="A hint" value={text} onInput={setText} />
          <TextField label="Wrong" wrong="This is not an address." value="ada@" onInput={ignore} />
          <TextField label="Disabled" value="fixed" disabled onInput={ignore} />
          <SelectField
            label="Choice"
            value="a"
            options={[
              { value: 'a', text: 'First' },
              { value: 'b', text: 'Second' },
            ]}
            onChange={ignore}
          />
          <Switch label="On and off" checked={isOn} onChange={setOn} />
          <Switch label="Disabled" checked={false} disabled onChange={ignore} />
        </section>
        <section class="card stack" aria-label="Messages">
          <h2>Messages</h2>
          <Notice>Something to know.</Notice>
          <Notice tone="warn">Something to look at.</Notice>
          <Notice tone="danger">Something went wrong.</Notice>
          <div class="row">
            {TONES.map((tone) => (
              <Badge key={tone} tone={tone}>
                {tone}
              </Badge>
            ))}
          </div>
          <Progress label="Known" value={0.4} />
          <Progress label="Unknown" />
          <Secret value="svc_example_0123456789" />
          <Empty icon="book" title="Nothing here">
            <span>What stands where a list is empty.</span>
          </Empty>
        </section>
        <section class="card stack" aria-label="Table and tabs">
          <h2>Table and tabs</h2>
          <Tabs
            label="Example tabs"
            tabs={[
              { id: 'one', text: 'One' },
              { id: 'two', text: 'Two' },
            ]}
            chosen={tab}
            onChoose={setTab}
          />
          <Table
            label="Example table"
            rows={[
              { id: 'alpha', size: 12 },
              { id: 'beta', size: 1024 },
            ]}
            keyOf={({ id }) => id}
            columns={[
              { head: 'Name', cell: ({ id }) => id },
              { head: 'Size', kind: 'number', cell: ({ size }) => size },
            ]}
          />
        </section>
        <section class="card stack" aria-label="Colours">
          <h2>Colours</h2>
          <div class="swatches">
            {COLOURS.map((name) => (
              <div class="swatch" key={name}>
                <i style={{ background: `var(--${name})` }} />
                {name}
              </div>
            ))}
          </div>
          <div class="row">
            <Icon name="chat" /> <Icon name="cube" /> <Icon name="key" /> <Icon name="shield" /> <Icon name="gauge" />
          </div>
        </section>
      </div>
      {isOpen && (
        <Dialog title="Dialog" onClose={() => setOpen(false)}>
          <p>It keeps the focus and gives it back.</p>
          <div class="buttons">
            <Button look="main" data-first onClick={() => setOpen(false)}>
              Done
            </Button>
          </div>
        </Dialog>
      )}
    </ScreenFrame>
  );
}

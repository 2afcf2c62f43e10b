/** Lists of the console as data: what is loaded, which columns and filters there are, and what can be done with a row. */
import type { ComponentChildren, FunctionComponent } from 'preact';
import { useState } from 'preact/hooks';
import type { ListPage, PageQuery } from '../../client/list-pages.ts';
import { useData } from '../api/use-data.ts';
import { Button } from '../design/button.tsx';
import { confirmed } from '../design/confirm.tsx';
import { Empty } from '../design/empty.tsx';
import type { IconName } from '../design/icon.tsx';
import { Menu } from '../design/menu.tsx';
import { Notice } from '../design/notice.tsx';
import { SelectField } from '../design/select-field.tsx';
import { Switch } from '../design/switch.tsx';
import { type Column, Table } from '../design/table.tsx';
import { TextField } from '../design/text-field.tsx';
import type { ConsoleTextKey, TextKey } from '../i18n/catalogue.ts';
import { t } from '../i18n/language.ts';
import { explain } from '../session/explain.ts';
import { attempt } from './attempt.ts';
import { ScreenFrame } from './screen-frame.tsx';
import { useRows } from './use-rows.ts';

type Key = TextKey | ConsoleTextKey;

/** What cells, actions and windows may do with the list. */
export interface ListTools<Row> {
  rows: readonly Row[];
  reload(): Promise<void>;
  open(window: ListWindow<Row>): void;
  close(): void;
}

type ListWindow<Row> = (tools: ListTools<Row>) => ComponentChildren;

/** What was chosen, by the filter's name; empty: nothing. */
type FilterValues = Readonly<Record<string, string>>;

interface Filter<Beside> {
  name: string;
  label: Key;
  /** `choice` where it has options, which are hidden where there is only one of them. */
  kind?: 'text' | 'switch';
  options?(beside: Beside | undefined): { value: string; text: string }[];
}

export interface RowAction<Row> {
  text: string;
  icon?: IconName;
  /** What screen readers say, where the text alone does not tell what it is about. */
  label?: string;
  isDangerous?: boolean;
  isApart?: boolean;
  isChosen?: boolean;
  /** Asked before: title, what will happen, and the button that does it. */
  question?: readonly [title: string, detail: string, action: string] | undefined;
  /** The list is read again after it. */
  run?(): Promise<unknown>;
  done?: string;
  window?: ListWindow<Row>;
}

interface ListColumn<Row, Beside> {
  head: Key;
  kind?: NonNullable<Column<Row>['kind']>;
  cell(row: Row, beside: Beside | undefined, tools: ListTools<Row>): ComponentChildren;
}

export interface ListSpec<Row, Beside> {
  title: Key;
  detail?: Key;
  /** The title of the table, where the screen shows more than that. */
  label?: Key;
  load(page: PageQuery, values: FilterValues): Promise<ListPage<Row>>;
  /** What the cells need besides, such as the names of accounts. */
  beside?(): Promise<Beside>;
  keyOf(row: Row): string;
  everyMs?: number;
  filters?: readonly Filter<Beside>[];
  /** A filter that the route does not know needs all pages. */
  isWhole?(values: FilterValues): boolean;
  shows?(row: Row, values: FilterValues): boolean;
  empty?: { icon: IconName; title: Key; detail?: Key };
  columns: readonly ListColumn<Row, Beside>[];
  /** Buttons of a row. */
  buttons?(row: Row, tools: ListTools<Row>): readonly RowAction<Row>[];
  /** The menu of a row. */
  menu?(row: Row, tools: ListTools<Row>, beside: Beside | undefined): readonly RowAction<Row>[];
  /** What the menu is of. */
  nameOf?(row: Row, beside: Beside | undefined): string;
  /** The button at the head of the screen, which opens a window. */
  main?: { text: Key; icon: IconName; window: ListWindow<Row> };
  /** Further buttons at the head. */
  head?(tools: ListTools<Row>, values: FilterValues, beside: Beside | undefined): ComponentChildren;
  above?(tools: ListTools<Row>, beside: Beside | undefined): ComponentChildren;
  below?(tools: ListTools<Row>, beside: Beside | undefined): ComponentChildren;
}

export function listScreen<Row, Beside = undefined>(spec: ListSpec<Row, Beside>): FunctionComponent {
  return () => {
    const { values, setValue, loaded, beside, tools, window } = useList(spec);
    const { main, filters = [] } = spec;
    return (
      <ScreenFrame
        title={t(spec.title)}
        detail={spec.detail === undefined ? undefined : t(spec.detail)}
        error={loaded.error}
        isLoading={loaded.rows === undefined}
        actions={
          <>
            {filters.map((filter) => (
              <FilterField key={filter.name} filter={filter} beside={beside} values={values} onChange={setValue} />
            ))}
            {main !== undefined && (
              <Button look="main" icon={main.icon} onClick={() => tools.open(main.window)}>
                {t(main.text)}
              </Button>
            )}
            {spec.head?.(tools, values, beside)}
          </>
        }
      >
        {spec.above?.(tools, beside)}
        <ListTable spec={spec} more={loaded.more} beside={beside} tools={tools} />
        {spec.below?.(tools, beside)}
        {window?.(tools)}
      </ScreenFrame>
    );
  };
}

/** The same in a window, which has a title of its own. */
export function WindowList<Row, Beside = undefined>({ spec, label }: { spec: ListSpec<Row, Beside>; label: string }) {
  const { loaded, beside, tools, window } = useList(spec);
  const { rows, error, more } = loaded;
  return (
    <>
      {error !== undefined && <Notice tone="danger">{explain(error)}</Notice>}
      {rows === undefined && error === undefined && <span class="spinner" role="status" aria-label={t('loading')} />}
      {rows !== undefined && <ListTable spec={spec} label={label} more={more} beside={beside} tools={tools} />}
      {window?.(tools)}
    </>
  );
}

/** State of a list, for a screen or for a window with a list in it. */
function useList<Row, Beside>(spec: ListSpec<Row, Beside>) {
  const { load, everyMs, isWhole, shows } = spec;
  const [values, setValues] = useState<FilterValues>({});
  const [window, setWindow] = useState<{ draw: ListWindow<Row> }>();
  const loaded = useRows((page) => load(page, values), {
    // What only hides rows is not asked again for.
    inputs: shows === undefined ? [values] : [],
    ...(everyMs === undefined ? {} : { everyMs }),
    isWhole: isWhole?.(values) ?? false,
  });
  const beside = useData(async () => await spec.beside?.(), [], spec.beside === undefined ? undefined : everyMs);
  const reload = async (): Promise<void> => {
    await Promise.all([loaded.reload(), spec.beside === undefined ? undefined : beside.reload()]);
  };
  const rows = (loaded.rows ?? []).filter((row) => shows?.(row, values) ?? true);
  const tools: ListTools<Row> = {
    rows,
    reload,
    open: (draw) => setWindow({ draw }),
    close: () => setWindow(undefined),
  };
  const setValue = (name: string, value: string): void => setValues((before) => ({ ...before, [name]: value }));
  return { values, setValue, loaded, beside: beside.data, tools, window: window?.draw };
}

interface FilterFieldProps<Beside> {
  filter: Filter<Beside>;
  beside: Beside | undefined;
  values: FilterValues;
  onChange(name: string, value: string): void;
}

function FilterField<Beside>({ filter, beside, values, onChange }: FilterFieldProps<Beside>) {
  const { name, kind = 'text' } = filter;
  const value = values[name] ?? '';
  const field = { label: t(filter.label), value };
  const set = (given: string): void => onChange(name, given);
  const options = filter.options?.(beside);
  if (options !== undefined) return options.length > 1 ? <SelectField {...field} options={options} onChange={set} /> : null;
  if (kind === 'text') return <TextField {...field} onInput={set} />;
  return <Switch label={field.label} checked={value !== ''} onChange={(isOn) => set(isOn ? name : '')} />;
}

interface ListTableProps<Row, Beside> {
  spec: ListSpec<Row, Beside>;
  /** The title of the list by default. */
  label?: string;
  more: (() => void) | undefined;
  beside: Beside | undefined;
  tools: ListTools<Row>;
}

function ListTable<Row, Beside>({ spec, label = t(spec.label ?? spec.title), more, beside, tools }: ListTableProps<Row, Beside>) {
  const { empty, columns, buttons, menu, keyOf } = spec;
  if (tools.rows.length === 0 && empty !== undefined)
    return (
      <Empty icon={empty.icon} title={t(empty.title)}>
        {empty.detail !== undefined && <span>{t(empty.detail)}</span>}
      </Empty>
    );
  const shown: Column<Row>[] = columns.map(({ head, cell, ...rest }) => ({
    ...rest,
    head: t(head),
    cell: (row) => cell(row, beside, tools),
  }));
  const actions = (row: Row) => {
    if (menu === undefined) return <RowButtons actions={buttons?.(row, tools) ?? []} tools={tools} />;
    const items = menu(row, tools, beside);
    if (items.length === 0) return null;
    return (
      <Menu
        items={items.map((action) => ({ ...action, run: () => void perform(action, tools) }))}
        icon="more"
        size="small"
        label={t('actions_of', { name: spec.nameOf?.(row, beside) ?? keyOf(row) })}
      />
    );
  };
  if (menu !== undefined || buttons !== undefined) shown.push({ head: t('actions'), kind: 'actions', cell: actions });
  return <Table label={label} rows={tools.rows} more={more} keyOf={keyOf} columns={shown} />;
}

function RowButtons<Row>({ actions, tools }: { actions: readonly RowAction<Row>[]; tools: ListTools<Row> }) {
  return (
    <span class="row">
      {actions.map((action) => (
        <Button
          key={action.text}
          size="small"
          look={action.isDangerous ? 'danger' : 'bare'}
          icon={action.icon}
          aria-label={action.label}
          onClick={() => void perform(action, tools)}
        >
          {action.text}
        </Button>
      ))}
    </span>
  );
}

/** Asks, does it, and reads the list again, or opens the action's window. */
async function perform<Row>({ window, question, run, done }: RowAction<Row>, { open, reload }: ListTools<Row>): Promise<void> {
  if (window !== undefined) return open(window);
  if (run === undefined || (question !== undefined && !(await confirmed(...question)))) return;
  await attempt(run, done);
  await reload();
}

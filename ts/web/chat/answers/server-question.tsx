/** A question that an MCP server asks in the middle of a call, with a field for each thing that it wants to know. */
import { useEffect, useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { Button } from '../../design/button.tsx';
import { CheckList } from '../../design/check-list.tsx';
import { SelectField } from '../../design/select-field.tsx';
import { Switch } from '../../design/switch.tsx';
import { TextField } from '../../design/text-field.tsx';
import { showToast } from '../../design/toasts.tsx';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';

/** A member of the schema. Servers may write what they like into it. */
interface Member {
  readonly type?: unknown;
  readonly title?: unknown;
  readonly description?: unknown;
  readonly default?: unknown;
  readonly enum?: unknown;
  readonly enumNames?: unknown;
  readonly oneOf?: unknown;
  readonly items?: Member & { readonly anyOf?: unknown };
}

interface Question {
  readonly message: string;
  readonly members: readonly (readonly [name: string, member: Member])[];
}

type Values = Readonly<Record<string, unknown>>;

/** @param tool `mcp.LABEL.TOOL`; the label says who asks. */
export function ServerQuestion({ id, tool }: { id: string; tool: string }) {
  const [question, setQuestion] = useState<Question>();
  const [values, setValues] = useState<Values>({});
  const [isSent, setSent] = useState(false);
  useEffect(() => {
    call('GET /api/v1/security/approvals/{id}', { params: { id } }).then(
      ({ state, arguments: asked }) => {
        if (state !== 'pending') return;
        const read = questionOf(asked);
        setQuestion(read);
        setValues(proposedBy(read));
      },
      (error: unknown) => showToast(explain(error)),
    );
  }, [id]);
  if (question === undefined) return null;
  const decide = async (decision: 'approve' | 'deny'): Promise<void> => {
    setSent(true);
    const answer = decision === 'approve' ? { arguments: given(values) } : {};
    try {
      await call('POST /api/v1/security/approvals/{id}', { params: { id }, body: { decision, ...answer } });
    } catch (error) {
      setSent(false);
      showToast(explain(error));
    }
  };
  return (
    <div class="tool-decision">
      <p>{t('server_asks', { name: tool.split('.')[1] ?? tool })}</p>
      <p class="breakable folded-text">{question.message}</p>
      {question.members.map(([name, member]) => (
        <AnswerField
          key={name}
          name={name}
          member={member}
          value={values[name]}
          onChange={(value) => setValues((known) => ({ ...known, [name]: value }))}
        />
      ))}
      <div class="buttons">
        <Button disabled={isSent} onClick={() => void decide('deny')}>
          {t('do_not_answer')}
        </Button>
        <Button look="main" disabled={isSent} onClick={() => void decide('approve')}>
          {t('send_answer')}
        </Button>
      </div>
    </div>
  );
}

interface AnswerFieldProps {
  name: string;
  member: Member;
  value: unknown;
  onChange(value: unknown): void;
}

function AnswerField({ name, member, value, onChange }: AnswerFieldProps) {
  const label = textOf(member.title) ?? name;
  const hint = textOf(member.description);
  const options = optionsOf(member);
  if (member.type === 'boolean') return <Switch label={label} checked={value === true} onChange={onChange} />;
  if (member.type === 'array')
    return (
      <CheckList label={label} options={optionsOf(member.items ?? {})} chosen={value as readonly string[]} onChange={onChange} />
    );
  if (options.length > 0)
    return (
      <SelectField
        label={label}
        hint={hint}
        onChange={onChange}
        value={String(value ?? '')}
        options={value === undefined ? [{ value: '', text: '' }, ...options] : options}
      />
    );
  if (member.type === 'number' || member.type === 'integer')
    return (
      <TextField
        label={label}
        hint={hint}
        type="number"
        step="any"
        value={String(value ?? '')}
        onInput={(text) => onChange(text === '' ? undefined : Number(text))}
      />
    );
  return <TextField label={label} hint={hint} value={String(value ?? '')} onInput={onChange} />;
}

function questionOf(asked: unknown): Question {
  const { message, schema } = asked as { message?: unknown; schema?: { properties?: Record<string, Member> } };
  return { message: textOf(message) ?? '', members: Object.entries(schema?.properties ?? {}) };
}

function proposedBy({ members }: Question): Values {
  return Object.fromEntries(
    members.map(([name, { type, default: proposed }]) => [
      name,
      proposed ?? (type === 'boolean' ? false : type === 'array' ? [] : undefined),
    ]),
  );
}

/** Empty fields are left out. */
function given(values: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== ''));
}

/** A choice by values, or by values with titles. */
function optionsOf(member: Member & { readonly anyOf?: unknown }): { value: string; text: string }[] {
  if (Array.isArray(member.enum)) {
    const names = Array.isArray(member.enumNames) ? (member.enumNames as unknown[]) : [];
    return member.enum.map((value, i) => ({ value: String(value), text: textOf(names[i]) ?? String(value) }));
  }
  const titled = [member.oneOf, member.anyOf].find(Array.isArray) as { const?: unknown; title?: unknown }[] | undefined;
  return (titled ?? []).map(({ const: value, title }) => ({ value: String(value), text: textOf(title) ?? String(value) }));
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

import { type Answer, call } from '../../api/call.ts';
import { Badge, type Tone } from '../../design/badge.tsx';
import { t } from '../../i18n/language.ts';
import { listScreen } from '../list-screen.tsx';

type Tool = Answer<'GET /api/v1/agent/tools'>['data'][number];
type Policy = Answer<'GET /api/v1/tools/policies'>;
type Decision = Tool['approval'];

const TONES: Record<Tool['state'], Tone> = {
  ready: 'good',
  changed: 'warn',
  unavailable: 'neutral',
  disabled: 'neutral',
  name_collision: 'danger',
};

export const Screen = listScreen({
  title: 'tools',
  detail: 'tools_detail',
  load: () => call('GET /api/v1/agent/tools'),
  keyOf: ({ name }) => name,
  nameOf: ({ name }) => name,
  empty: { icon: 'play', title: 'no_tools' },
  columns: [
    {
      head: 'tool',
      cell: ({ name, description }) => (
        <div class="two-lines">
          <code class="breakable">{name}</code>
          <span class="small quiet">{description}</span>
        </div>
      ),
    },
    { head: 'effect', cell: ({ effect }) => t(`effect_${effect}`) },
    { head: 'in_chats', cell: ({ approval }) => t(`decision_${approval}`) },
    { head: 'role', cell: ({ least_role: role }) => t(`role_${role}`) },
    {
      head: 'state',
      cell: ({ state, reason }) => (
        <div class="two-lines">
          <span>
            <Badge tone={TONES[state]}>{t(`state_${state}`)}</Badge>
          </span>
          {reason !== undefined && <span class="small quiet">{reason}</span>}
        </div>
      ),
    },
  ],
  menu: ({ name }) => [
    { text: t('policy_allow'), icon: 'play', run: () => setRule(name, 'allow') },
    { text: t('policy_ask'), icon: 'info', run: () => setRule(name, 'ask') },
    { text: t('policy_deny'), icon: 'stop', run: () => setRule(name, 'deny') },
    { text: t('policy_default'), icon: 'swap', isApart: true, run: () => setRule(name, undefined) },
  ],
});

/** The rules of this very name are replaced; those with patterns and roles stay. */
async function setRule(name: string, decision: Decision | undefined): Promise<void> {
  const policy = await call('GET /api/v1/tools/policies');
  const isOfName = ({ tools, roles }: Policy['rules'][number]): boolean =>
    roles === undefined && tools.length === 1 && tools[0] === name;
  const others = policy.rules.filter((rule) => !isOfName(rule));
  const rules = decision === undefined ? others : [...others, { tools: [name], decision }];
  await call('PUT /api/v1/tools/policies', { body: { ...policy, rules } });
}

/** The policy of a tenant decides what becomes of a call before it is made: its rules go before what is usual. */
import Type, { type Static } from 'typebox';
import { type Principal, ROLES } from '../../../platform/http/principal.ts';
import { named } from '../../../platform/schema/named.ts';
import { matchesAny } from '../../../platform/text/name-pattern.ts';
import type { Tool } from '../../../platform/tools/tool.ts';
import type { AskedBy } from '../tables.ts';

const MAX_RULES = 200;
const MAX_PATTERNS = 100;
const Pattern = Type.String({ minLength: 1, maxLength: 200, pattern: '^[A-Za-z0-9_.*-]+$' });

export const DECISIONS = ['allow', 'ask', 'deny'] as const;

export const Policy = named(
  'ToolPolicy',
  Type.Object(
    {
      rules: Type.Array(
        Type.Object(
          {
            tools: Type.Array(Pattern, {
              minItems: 1,
              maxItems: MAX_PATTERNS,
              description: 'Names of tools, in which `*` stands for any characters.',
            }),
            decision: Type.Enum([...DECISIONS]),
            roles: Type.Optional(
              Type.Array(Type.Enum([...ROLES]), {
                minItems: 1,
                description: 'Only for callers with one of these roles; absent: for all.',
              }),
            ),
          },
          { additionalProperties: false },
        ),
        { maxItems: MAX_RULES, description: 'Their order does not matter: deny goes before ask, and ask before allow.' },
      ),
      timeout_seconds: Type.Integer({
        minimum: 5,
        maximum: 3_600,
        description: 'A chat waits so long for a decision; a call that is undecided then is denied.',
      }),
      taint_exempt: Type.Array(Pattern, {
        maxItems: MAX_PATTERNS,
        description: 'Tools that do not ask again where text of others came before the call.',
      }),
      plan_approval: Type.Optional(
        Type.Enum(['owner', 'second_person'], {
          default: 'owner',
          description: 'Whoever approves the plan of a goal: its owner, or an administrator other than the owner.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
);
export type Policy = Static<typeof Policy>;

export const DEFAULT_POLICY: Policy = { rules: [], timeout_seconds: 120, taint_exempt: [] };

interface JudgedCall {
  readonly tool: Pick<Tool, 'name' | 'effect'>;
  readonly caller: Pick<Principal, 'roles'>;
  /** The caller itself makes it, and no model. */
  readonly isDirect: boolean;
  /** Text of others came before it in the run. */
  readonly isTainted: boolean;
  /** It reaches an address that nobody named in the run. */
  readonly isToStrangers: boolean;
  /** The person has let the tool pass before. */
  readonly isPermitted: boolean;
}

type PolicyOutcome = { readonly decision: 'allow' | 'deny' } | { readonly decision: 'ask'; readonly by: AskedBy };

export function judgeCall(
  policy: Policy,
  { tool, caller, isDirect, isTainted, isToStrangers, isPermitted }: JudgedCall,
): PolicyOutcome {
  const decisions = new Set(
    policy.rules
      .filter(
        ({ tools, roles }) =>
          matchesAny(tools, tool.name) && (roles === undefined || roles.some((role) => caller.roles.includes(role))),
      )
      .map(({ decision }) => decision),
  );
  if (decisions.has('deny')) return { decision: 'deny' };
  // A person's own "always" does not take a rule of the administrator away.
  if (decisions.has('ask')) return { decision: 'ask', by: 'rule' };
  if (isDirect) return { decision: 'allow' };
  const isExempt = matchesAny(policy.taint_exempt, tool.name);
  if (isTainted && tool.effect !== 'read' && !isExempt) return { decision: 'ask', by: 'untrusted' };
  if (isToStrangers && !isExempt) return { decision: 'ask', by: 'address' };
  const isAllowed = decisions.has('allow') || isPermitted || tool.effect === 'read';
  return isAllowed ? { decision: 'allow' } : { decision: 'ask', by: 'default' };
}

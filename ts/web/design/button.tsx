/** Does something at once. An icon alone needs a label, which is shown as its hint as well. */
import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

export interface ButtonProps
  extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'icon' | 'size' | 'disabled' | 'type' | 'label'> {
  look?: 'main' | 'plain' | 'danger' | 'bare';
  size?: 'small' | 'medium';
  icon?: IconName | undefined;
  /** Names a button that shows an icon alone; one with a text has `aria-label` where the text says too little. */
  label?: string;
  busy?: boolean;
  disabled?: boolean;
  type?: 'button' | 'submit';
  children?: ComponentChildren;
}

export function Button(props: ButtonProps) {
  const {
    look = 'bare',
    size = 'medium',
    icon,
    label,
    busy = false,
    disabled = false,
    type = 'button',
    children,
    ...rest
  } = props;
  const classes = ['button', look, size === 'small' ? 'small' : '', children === undefined ? 'icon' : ''];
  return (
    <button
      type={type}
      {...rest}
      class={`${classes.filter(Boolean).join(' ')} ${typeof rest.class === 'string' ? rest.class : ''}`}
      disabled={disabled || busy}
      aria-label={label ?? rest['aria-label']}
      title={label}
      aria-busy={busy || undefined}
    >
      {busy ? <span class="spinner" /> : icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** Texts about settings, in English. */
export const settings = {
  by_default: 'default',
  changed_only: 'Only changed ones',
  check_value: 'Check',
  copy_line: 'Copy {line}',
  setting_after_restart: 'after a restart',
  setting_checked:
    'The setting takes this value. Write one of these lines into svc.toml (above its first table) or into the environment, and restart the server.',
  setting_forget: 'Forget what is saved',
  setting_forgotten: '{key} is no longer saved here.',
  setting_needs_restart: 'It takes effect at the next start of the server.',
  setting_of_command_line: 'It is set on the command line, which wins over what is saved here.',
  setting_of_environment: 'It is set by {variable} in the environment, which wins over what is saved here.',
  setting_of_machine:
    'It belongs to the operator of the machine. Another value is checked here, and written into svc.toml or {variable}.',
  setting_saved: '{key} is saved and in effect.',
  setting_saved_pending: '{key} is saved and takes effect at the next start.',
  settings_detail: 'They come from svc.toml, from what is saved here, and from the environment; later ones win.',
  variable: 'Variable',
} as const;

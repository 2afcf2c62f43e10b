/** Texts of the frame around the screens, in English. */
export const frame = {
  console_needs_sign_in: 'The console needs you to sign in',
  group_control: 'Security and integration',
  group_node: 'Node',
  group_own: 'You',
  group_people: 'People',
  navigation: 'Navigation',
  reload_page: 'Load the page anew',
  screen_missing:
    'This screen could not be fetched. The server may have been updated since the page was opened, or is out of reach: load the page anew.',
  shown_once: 'Copy it now: it is not shown again.',
  skip_to_content: 'Skip to the content',
} as const;

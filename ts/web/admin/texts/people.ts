/** Texts about users, groups, invitations and tenants. */
import type { Texts } from '../../i18n/catalogue.ts';

export const people = {
  add_member: { en: 'Add', de: 'Hinzufügen' },
  bases_granted: { en: 'Knowledge bases only as groups grant them', de: 'Wissensbasen nur, wie Gruppen sie freigeben' },
  delete_empty_tenant_detail: {
    en: '{id} has no accounts. It is deleted with what it keeps.',
    de: '{id} hat keine Konten. Der Mandant wird mit allem, was er aufbewahrt, gelöscht.',
  },
  delete_group: { en: 'Delete group', de: 'Gruppe löschen' },
  delete_group_detail: {
    en: 'Members of {name} lose at once what it gave them.',
    de: 'Mitglieder von {name} verlieren sofort, was die Gruppe ihnen gab.',
  },
  delete_tenant: { en: 'Delete tenant', de: 'Mandant löschen' },
  delete_tenant_detail: {
    en: '{id} is deleted with its accounts: {count}. Their keys stop at once.',
    de: '{id} wird mit seinen Konten gelöscht: {count}. Ihre Schlüssel gelten sofort nicht mehr.',
  },
  delete_user: { en: 'Delete user', de: 'Konto löschen' },
  delete_user_detail: {
    en: '{name} is deleted; the account’s keys and sessions stop at once.',
    de: '{name} wird gelöscht; Schlüssel und Sitzungen des Kontos gelten sofort nicht mehr.',
  },
  description: { en: 'Description', de: 'Beschreibung' },
  disable_own: { en: 'Disable your own account?', de: 'Das eigene Konto sperren?' },
  disable_own_detail: {
    en: 'You are signed in as {name}. Your sessions end at once, and another administrator has to enable the account again.',
    de: 'Sie sind als {name} angemeldet. Ihre Sitzungen enden sofort, und jemand anders mit Verwaltungsrechten muss das Konto wieder freigeben.',
  },
  edit_group: { en: 'Group {name}', de: 'Gruppe {name}' },
  external_id: { en: 'Id in the directory (optional)', de: 'Id im Verzeichnis (optional)' },
  external_id_hint: { en: 'Of the group at the sign-in provider', de: 'Der Gruppe beim Anmeldedienst' },
  granted_bases: { en: 'Knowledge bases', de: 'Wissensbasen' },
  granted_bases_hint: {
    en: 'Names with commas between them; * stands for any letters',
    de: 'Namen mit Kommas dazwischen; * steht für beliebige Zeichen',
  },
  granted_models: { en: 'Models', de: 'Modelle' },
  granted_models_hint: {
    en: 'Names with commas between them; * stands for any letters. They count where the tenant’s models are granted by groups.',
    de: 'Namen mit Kommas dazwischen; * steht für beliebige Zeichen. Sie zählen, wo Gruppen die Modelle des Mandanten freigeben.',
  },
  groups: { en: 'Groups', de: 'Gruppen' },
  groups_detail: {
    en: 'A group gives its members a role, models and knowledge bases.',
    de: 'Eine Gruppe gibt ihren Mitgliedern eine Rolle, Modelle und Wissensbasen.',
  },
  invitation_expired: { en: 'expired', de: 'abgelaufen' },
  invitation_link_detail: {
    en: 'Whoever has this link can make an account with it.',
    de: 'Wer diesen Link hat, kann damit ein Konto anlegen.',
  },
  invitation_open: { en: 'open', de: 'offen' },
  invitation_used_up: { en: 'used up', de: 'verbraucht' },
  invitations: { en: 'Invitations', de: 'Einladungen' },
  invitations_detail: {
    en: 'A link with which people make their accounts themselves.',
    de: 'Ein Link, mit dem Personen ihr Konto selbst anlegen.',
  },
  last_sign_in: { en: 'Last sign-in', de: 'Letzte Anmeldung' },
  make_superadmin: { en: 'Make superadmin?', de: 'Zum Superadmin machen?' },
  make_superadmin_detail: {
    en: '{name} will administer everything: all tenants, accounts, settings and backups.',
    de: '{name} verwaltet dann alles: alle Mandanten, Konten, Einstellungen und Sicherungen.',
  },
  make_superadmin_yes: { en: 'Make superadmin', de: 'Zum Superadmin machen' },
  members: { en: 'Members', de: 'Mitglieder' },
  members_of: { en: 'Members of {name}', de: 'Mitglieder von {name}' },
  models_granted: { en: 'Models only as groups grant them', de: 'Modelle nur, wie Gruppen sie freigeben' },
  new_group: { en: 'New group', de: 'Neue Gruppe' },
  new_invitation: { en: 'New invitation', de: 'Neue Einladung' },
  new_tenant: { en: 'New tenant', de: 'Neuer Mandant' },
  new_user: { en: 'New user', de: 'Neues Konto' },
  no_groups: { en: 'No groups yet', de: 'Noch keine Gruppen' },
  no_groups_detail: {
    en: 'Make one to give several people the same role, models and knowledge bases.',
    de: 'Eine anlegen, um mehreren dieselbe Rolle, Modelle und Wissensbasen zu geben.',
  },
  no_invitations: { en: 'No invitations', de: 'Keine Einladungen' },
  no_members: { en: 'Nobody is in this group yet', de: 'Noch ist niemand in dieser Gruppe' },
  no_password: { en: 'no password', de: 'kein Passwort' },
  note_hint: { en: 'Whom it is for', de: 'Für wen sie ist' },
  priority: { en: 'Priority', de: 'Vorrang' },
  priority_hint: { en: 'Its requests may go before those of others', de: 'Seine Anfragen dürfen vor denen anderer an die Reihe' },
  remove_member: { en: 'Remove {name}', de: '{name} entfernen' },
  reset_token_detail: {
    en: 'Hand it to the person: with it, the sign-in page sets a new password, once, within an hour.',
    de: 'Gib es der Person: damit setzt die Anmeldeseite einmal, innerhalb einer Stunde, ein neues Passwort.',
  },
  reset_token_for: { en: 'Reset token for {name}', de: 'Rücksetz-Token für {name}' },
  revoke_invitation: { en: 'Withdraw invitation', de: 'Einladung zurückziehen' },
  revoke_invitation_detail: {
    en: 'The link of {name} stops working. Accounts made with it stay.',
    de: 'Der Link von {name} wirkt nicht mehr. Damit angelegte Konten bleiben.',
  },
  role_hint: {
    en: 'viewer: chats. developer: also knowledge bases. admin: also models and accounts. superadmin: also tenants.',
    de: 'Betrachter: chattet. Entwickler: auch Wissensbasen. Administrator: auch Modelle und Konten. Superadmin: auch Mandanten.',
  },
  tenant_id_hint: {
    en: 'Letters, digits and _ . : @ -; it cannot be changed later',
    de: 'Buchstaben, Ziffern und _ . : @ -; später nicht änderbar',
  },
  tenants: { en: 'Tenants', de: 'Mandanten' },
  tokens_a_minute: { en: 'Tokens a minute', de: 'Token je Minute' },
  user_password_hint: {
    en: 'Empty: the person sets one with a reset token',
    de: 'Leer: die Person setzt eines mit einem Rücksetz-Token',
  },
  users: { en: 'Users', de: 'Konten' },
  uses: { en: 'Uses', de: 'Nutzungen' },
} satisfies Texts;

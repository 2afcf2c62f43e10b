/** Who did something, as people know them: `user:usr_1 key:key_2` is the account's name where it is known. */
export function actorName(actor: string, names: ReadonlyMap<string, string> | undefined): string {
  const [account = ''] = actor.split(' ');
  return names?.get(account.replace(/^user:/, '')) ?? actor;
}

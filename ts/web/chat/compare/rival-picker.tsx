/** Chooses a second model that answers beside the first. */
import { Menu, type MenuItem } from '../../design/menu.tsx';
import { t } from '../../i18n/language.ts';
import { chatModels, chosenModel } from '../composer/models.ts';
import { chooseRival, rivalModel } from './compare.ts';

export function RivalPicker() {
  const others = chatModels.value.filter(({ id }) => id !== chosenModel.value);
  const chosen = rivalModel.value;
  if (others.length === 0) return null;
  const items: MenuItem[] = [
    { text: t('compare_none'), isChosen: chosen === undefined, run: () => chooseRival(undefined) },
    ...others.map(({ id }): MenuItem => ({ text: id, isChosen: chosen === id, run: () => chooseRival(id) })),
  ];
  return (
    <Menu
      items={items}
      icon="columns"
      label={chosen === undefined ? t('compare') : t('compare_with', { id: chosen })}
      aria-pressed={chosen !== undefined}
    />
  );
}

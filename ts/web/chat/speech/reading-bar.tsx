/** Pause, the next sentence, speed and the end of what is read aloud. */
import { Button } from '../../design/button.tsx';
import { Menu } from '../../design/menu.tsx';
import { formatNumber } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { reading, SPEEDS, setSpeed, skipPiece, speed, stopReading, togglePause } from './reading.ts';

export function ReadingBar() {
  const now = reading.value;
  if (now === undefined) return null;
  const { isPaused, piece, nPieces } = now;
  const rate = (value: number): string => t('speed_times', { speed: formatNumber(value, 2) });
  return (
    <section class="reading-bar" aria-label={t('reading_aloud')}>
      <span class="small quiet">{t('reading_piece', { n: piece, count: nPieces })}</span>
      <Button
        class="push"
        size="small"
        icon={isPaused ? 'play' : 'pause'}
        label={isPaused ? t('go_on_reading') : t('pause_reading')}
        onClick={togglePause}
      />
      <Button size="small" icon="skip" label={t('skip_sentence')} disabled={piece === nPieces} onClick={skipPiece} />
      <Menu
        size="small"
        aria-label={t('reading_speed', { speed: rate(speed.value) })}
        items={SPEEDS.map((value) => ({ text: rate(value), isChosen: value === speed.value, run: () => setSpeed(value) }))}
      >
        {rate(speed.value)}
      </Menu>
      <Button size="small" icon="close" label={t('stop_reading')} onClick={stopReading} />
    </section>
  );
}

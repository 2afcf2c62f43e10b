import { type Answer, call } from '../../api/call.ts';
import { Badge, type Tone } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Notice } from '../../design/notice.tsx';
import { formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { attempt } from '../attempt.ts';
import { type Device, DeviceDialog } from '../devices/device-dialog.tsx';
import { HaltDialog } from '../devices/halt-dialog.tsx';
import { ProfileDialog } from '../devices/profile-dialog.tsx';
import { listScreen } from '../list-screen.tsx';

type Halts = Answer<'GET /api/v1/iot/halt'>;

const EVERY_MS = 5_000;
const TONES: Record<Device['state'], Tone> = { connected: 'good', offline: 'danger', disabled: 'neutral', elsewhere: 'accent' };

export const Screen = listScreen<Device, Halts>({
  title: 'devices',
  detail: 'devices_detail',
  load: () => call('GET /api/v1/iot/devices'),
  beside: () => call('GET /api/v1/iot/halt'),
  everyMs: EVERY_MS,
  keyOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  empty: { icon: 'gauge', title: 'no_devices', detail: 'no_devices_detail' },
  main: {
    text: 'add_device',
    icon: 'plus',
    window: ({ close, reload }) => <ProfileDialog onClose={close} onSaved={reload} />,
  },
  head: ({ open, reload }, _, halts) =>
    halts?.halted === true ? (
      <Button icon="play" onClick={() => void attempt(() => call('DELETE /api/v1/iot/halt'), t('devices_resumed')).then(reload)}>
        {t('devices_resume')}
      </Button>
    ) : (
      <Button
        look="danger"
        icon="stop"
        onClick={() => open(({ close, reload: again }) => <HaltDialog onClose={close} onSaved={again} />)}
      >
        {t('devices_halt')}
      </Button>
    ),
  above: (_, halts) =>
    halts?.halts.map(({ scope, reason, by }) => (
      <Notice key={scope} tone="danger">
        {t('devices_halted', { reason, by })}
      </Notice>
    )),
  columns: [
    {
      head: 'device',
      cell: ({ name, kind }) => (
        <div class="two-lines">
          <span>{name}</span>
          <span class="small quiet">{kind}</span>
        </div>
      ),
    },
    {
      head: 'state',
      cell: ({ state, reason }) => (
        <div class="two-lines">
          <span>
            <Badge tone={TONES[state] ?? 'neutral'}>{t(`device_${state}`)}</Badge>
          </span>
          {reason !== null && <span class="small quiet breakable">{reason}</span>}
        </div>
      ),
    },
    {
      head: 'device_variables',
      cell: ({ variables }) => <span class="breakable small">{variables.map(({ name }) => name).join(', ')}</span>,
    },
    { head: 'device_seen', cell: ({ last_seen: at }) => formatTime(at) },
  ],
  menu: (device) => {
    const { id, name, state } = device;
    const isOff = state === 'disabled';
    return [
      { text: t('device_open'), icon: 'gauge', window: ({ close }) => <DeviceDialog device={device} onClose={close} /> },
      {
        text: isOff ? t('device_switch_on') : t('device_switch_off'),
        icon: isOff ? 'play' : 'stop',
        run: () => call('PATCH /api/v1/iot/devices/{id}', { params: { id }, body: { enabled: isOff } }),
      },
      {
        text: t('remove'),
        icon: 'trash',
        isDangerous: true,
        isApart: true,
        question: [t('remove_device'), t('remove_device_detail', { name }), t('remove')],
        run: () => call('DELETE /api/v1/iot/devices/{id}', { params: { id } }),
      },
    ];
  },
});

import { join } from '../../../ui/button.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { Menu, MenuChoice, MenuItem, MenuSeparator } from '../../../ui/menu.tsx'
import layout from '../../../ui/styles/layout.module.css'
import { say } from '../../../ui/toast.tsx'
import { messageOf } from '../../failure.tsx'
import { setPreferences, usePreferences } from '../../preferences.ts'
import { signOut, useSession } from '../../session.ts'
import { countUnsaved, saveAll } from '../../unsaved.ts'
import { openOverlay } from '../overlays.tsx'
import css from '../rail/rail.module.css'

/** Shows who is signed in, and opens what belongs to the person and this browser. */
export function UserSwitch() {
  const { apiKey, workspace } = useSession()
  const { theme, density } = usePreferences()
  return (
    <Menu
      side="top"
      trigger={
        <button type="button" className={css['user']} title={`${apiKey.author.name}, ${workspace.name}`}>
          <Icon name="person" />
          <span className={css['userText']}>
            <span className={join(layout['cut'], css['userName'])}>{apiKey.author.name}</span>
            <span className={join(layout['cut'], css['userPlace'])}>{workspace.name}</span>
          </span>
        </button>
      }
    >
      <MenuChoice
        label="Theme"
        value={theme}
        onChange={(theme) => setPreferences({ theme })}
        choices={[
          { value: 'system', text: 'System' },
          { value: 'light', text: 'Light' },
          { value: 'dark', text: 'Dark' },
        ]}
      />
      <MenuSeparator />
      <MenuChoice
        label="Rows"
        value={density}
        onChange={(density) => setPreferences({ density })}
        choices={[
          { value: 'normal', text: 'Normal' },
          { value: 'compact', text: 'Compact' },
        ]}
      />
      <MenuSeparator />
      <MenuItem note={<span data-keys>?</span>} onSelect={() => openOverlay('keys')}>
        Keyboard shortcuts…
      </MenuItem>
      <MenuSeparator />
      <MenuItem onSelect={() => void leave()}>Sign out</MenuItem>
    </Menu>
  )
}

async function leave(): Promise<void> {
  await saveAll()
  if (countUnsaved() > 0) return openOverlay('sign-out')
  await signOut().catch((error) => say(`You are still signed in. ${messageOf(error)}`))
}

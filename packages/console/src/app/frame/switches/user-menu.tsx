import { useState } from 'react'
import type { Trigger } from '../../../ui/deferred.tsx'
import { Confirm } from '../../../ui/dialog.tsx'
import { Menu, MenuChoice, MenuItem, MenuSeparator, MenuToggle } from '../../../ui/menu.tsx'
import { counted } from '../../../ui/time.tsx'
import { say } from '../../../ui/toast.tsx'
import { messageOf } from '../../failure.tsx'
import { setPreferences, usePreferences } from '../../preferences.ts'
import { signOut } from '../../session.ts'
import { countUnsaved, saveAll } from '../../unsaved.ts'
import { openOverlay } from '../overlays.tsx'

export default function UserMenu({ trigger }: { trigger: Trigger }) {
  const { theme, density, letterKeys } = usePreferences()
  const [unsaved, setUnsaved] = useState(0)
  const leave = async () => {
    await saveAll()
    const count = countUnsaved()
    if (count > 0) return setUnsaved(count)
    await signOut().catch((error) => say(`You are still signed in. ${messageOf(error)}`))
  }
  return (
    <>
      <Menu trigger={trigger} side="top">
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
        <MenuToggle
          on={density === 'compact'}
          onChange={(on) => setPreferences({ density: on ? 'compact' : 'normal' })}
        >
          Compact rows
        </MenuToggle>
        <MenuToggle on={letterKeys} onChange={(on) => setPreferences({ letterKeys: on })}>
          Single-letter shortcuts
        </MenuToggle>
        <MenuItem note="?" onSelect={() => openOverlay('keys')}>
          Keyboard shortcuts…
        </MenuItem>
        <MenuSeparator />
        <MenuItem onSelect={() => void leave()}>Sign out</MenuItem>
      </Menu>
      <Confirm
        open={unsaved > 0}
        title="Sign out?"
        text={`${counted(unsaved, 'prompt')} ${unsaved === 1 ? 'is' : 'are'} not saved. Signing out discards ${unsaved === 1 ? 'it' : 'them'}.`}
        action="Sign out"
        danger
        onConfirm={signOut}
        onClose={() => setUnsaved(0)}
      />
    </>
  )
}

import { Dialog } from '../../../ui/dialog.tsx'
import { CheckField } from '../../../ui/field.tsx'
import { Key } from '../../../ui/mark.tsx'
import { setPreferences, usePreferences } from '../../preferences.ts'
import { keyText, useRegistered } from '../../shortcuts.ts'
import css from './dialogs.module.css'

/** The keys that work on this screen. */
export function KeyList({ onClose }: { onClose: () => void }) {
  const { letterKeys } = usePreferences()
  const withKeys = useRegistered().filter(({ keys }) => keys)
  const groups = [...new Set(withKeys.map(({ group }) => group))]
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <CheckField
        label="Single-letter shortcuts"
        checked={letterKeys}
        onChange={(event) => setPreferences({ letterKeys: event.target.checked })}
      />
      {groups.map((group) => (
        <section key={group}>
          <h3 className={css['keyGroup']}>{group}</h3>
          <dl>
            {withKeys
              .filter((shortcut) => shortcut.group === group)
              .map(({ keys = '', label }) => (
                <div key={keys + label} className={css['keyLine']}>
                  <dt>{label}</dt>
                  <dd>
                    <Keys keys={keys} />
                  </dd>
                </div>
              ))}
          </dl>
        </section>
      ))}
    </Dialog>
  )
}

/** The keys of a shortcut. Keys that are pressed after each other are shown as separate keys. */
export function Keys({ keys }: { keys: string }) {
  return keys.split(' ').map((key) => <Key key={key}>{keyText(key)}</Key>)
}

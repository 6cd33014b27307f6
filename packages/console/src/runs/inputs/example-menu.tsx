import { useState } from 'react'
import { Confirm } from '../../ui/dialog.tsx'
import { Menu, MenuItem, type MenuProps } from '../../ui/menu.tsx'

interface ExampleMenuProps {
  trigger: MenuProps['trigger']
  name: string
  blocked: string | false
  /** Null while the fields hold the example's values. */
  onRestore: (() => void) | null
  onSaveAs: () => void
  onDelete: () => Promise<unknown>
}

/** What can be done with the chosen example. */
export default function ExampleMenu({ trigger, name, blocked, onRestore, onSaveAs, onDelete }: ExampleMenuProps) {
  const [asks, setAsks] = useState(false)
  return (
    <>
      <Menu align="end" trigger={trigger}>
        {onRestore && <MenuItem onSelect={onRestore}>Reset to saved values</MenuItem>}
        <MenuItem blocked={blocked} onSelect={onSaveAs}>
          Save as another example
        </MenuItem>
        <MenuItem blocked={blocked} danger onSelect={() => setAsks(true)}>
          Delete {name}
        </MenuItem>
      </Menu>
      <Confirm
        title={`Delete the example ${name}?`}
        text="Deletes the example for everyone in the project. Your fields keep its values."
        action="Delete"
        danger
        open={asks}
        onClose={() => setAsks(false)}
        onConfirm={onDelete}
      />
    </>
  )
}

import { Menu, MenuItem, type MenuProps } from '../../ui/menu.tsx'

interface ExampleMenuProps {
  trigger: MenuProps['trigger']
  name: string
  blocked: string | false
  /** Null while the fields hold the example's values. */
  onRestore: (() => void) | null
  onOpen: (part: 'name' | 'delete') => void
}

/** What can be done with the chosen example. */
export default function ExampleMenu({ trigger, name, blocked, onRestore, onOpen }: ExampleMenuProps) {
  return (
    <Menu align="end" trigger={trigger}>
      {onRestore && <MenuItem onSelect={onRestore}>Reset to saved values</MenuItem>}
      <MenuItem blocked={blocked} onSelect={() => onOpen('name')}>
        Save as another example
      </MenuItem>
      <MenuItem blocked={blocked} danger onSelect={() => onOpen('delete')}>
        Delete {name}
      </MenuItem>
    </Menu>
  )
}

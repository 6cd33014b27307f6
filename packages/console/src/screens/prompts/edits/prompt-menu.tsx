import type { TreeItem } from '@stet/sdk'
import { keyText } from '../../../app/shortcuts.ts'
import { Menu, MenuItem, type MenuProps } from '../../../ui/menu.tsx'
import type { PromptEdits } from './use-prompt-edits.ts'

interface PromptMenuProps {
  trigger: MenuProps['trigger']
  item: TreeItem
  edits: PromptEdits
}

/** What can be done with the open prompt as a whole. */
export default function PromptMenu({ trigger, item, edits }: PromptMenuProps) {
  const { blocked } = edits
  return (
    <Menu trigger={trigger} align="end">
      <MenuItem
        note={keyText('F2')}
        blocked={blocked}
        onSelect={() => edits.ask({ kind: 'rename', item, path: item.path })}
      >
        Rename
      </MenuItem>
      <MenuItem
        blocked={blocked || (item.change === null && 'no changes')}
        onSelect={() => edits.ask({ kind: 'revert', item })}
      >
        Revert
      </MenuItem>
      <MenuItem note="Del" danger blocked={blocked} onSelect={() => edits.remove(item.path)}>
        Delete
      </MenuItem>
    </Menu>
  )
}

import type { TreeItem } from '@stet/sdk'
import { describeChange, kindOf } from '../../editor/diff/changed-prompts.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Chip, Live } from '../../ui/mark.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import type { EditPlace } from './edits/prompt-edits.ts'
import type { PromptEdits } from './edits/use-prompt-edits.ts'
import css from './open.module.css'
import { RunStrip } from './run-strip.tsx'

interface PromptHeadProps {
  path: string
  place: EditPlace
  /** Undefined while the tree is loading. */
  item: TreeItem | undefined
  edits: PromptEdits
}

/** The path of the open prompt, what the draft does to it, and what can be done with it as a whole. */
export function PromptHead({ path, place, item, edits }: PromptHeadProps) {
  const at = path.lastIndexOf('/') + 1
  const name = path.slice(at)
  const { change = null } = item ?? {}
  const kind = item && change && kindOf(change, item)
  const { blocked } = edits
  return (
    <>
      <h1 className={css['path']} tabIndex={-1}>
        <span className="faint">{path.slice(0, at)}</span>
        {place.isLive ? <Live>{name}</Live> : name}
      </h1>
      {kind && <Chip tone={kind === 'deleted' ? 'red' : 'blue'}>{describeChange(kind, item)}</Chip>}
      {item && <RunStrip projectId={place.projectId} documentUuid={item.documentUuid} />}
      {item && change !== 'deleted' && (
        <Menu
          align="end"
          trigger={
            <Button look="quiet" square aria-label="More" className={css['more']}>
              <Icon name="more" />
            </Button>
          }
        >
          <MenuItem
            note={<span data-keys>F2</span>}
            blocked={blocked}
            onSelect={() => edits.ask({ kind: 'rename', row: { kind: 'prompt', key: path }, path })}
          >
            Rename
          </MenuItem>
          <MenuItem
            blocked={blocked || (item.change === null && 'no changes')}
            onSelect={() => edits.ask({ kind: 'revert', item })}
          >
            Revert
          </MenuItem>
          <MenuItem note={<span data-keys>Del</span>} danger blocked={blocked} onSelect={() => edits.remove(item.path)}>
            Delete
          </MenuItem>
        </Menu>
      )}
    </>
  )
}

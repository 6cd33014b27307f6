import type { TreeItem } from '@stet/sdk'
import type { UseQueryResult } from '@tanstack/react-query'
import { useState } from 'react'
import { Failure } from '../../app/failure.tsx'
import { noticeSignedOut } from '../../app/session.ts'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/copy.tsx'
import { Key } from '../../ui/mark.tsx'
import { Empty } from '../../ui/states.tsx'
import type { PromptEdits } from './edits/use-prompt-edits.ts'
import css from './open.module.css'
import type { PaneLayout } from './panes/layout.ts'
import { Pane, PaneTabs } from './panes/panes.tsx'

interface NoPromptProps {
  panes: PaneLayout
  tree: UseQueryResult<TreeItem[]>
  edits: PromptEdits
}

/** Beside the tree while no prompt is open. */
export function NoPrompt({ panes, tree, edits }: NoPromptProps) {
  return (
    <Pane name="text" panes={panes}>
      {tree.data?.length === 0 ? <FirstPrompt edits={edits} /> : tree.data && <Choose />}
    </Pane>
  )
}

function Choose() {
  return (
    <div className={css['nothing']}>
      <Empty line="Choose a prompt to read, edit and run it.">
        <p className={css['keys']} data-keys>
          <Key>↑</Key> <Key>↓</Key> move in the list, <Key>⏎</Key> opens a prompt, <Key>n</Key> makes a new one.
        </p>
      </Empty>
    </div>
  )
}

/** What an empty version shows, in the list on narrow screens and beside it on others. */
export function FirstPrompt({ edits }: { edits: PromptEdits }) {
  return (
    <div className={css['nothing']}>
      <Empty line="There are no prompts here yet.">
        <Button look="primary" blocked={edits.blocked} onClick={() => edits.ask({ kind: 'new', folder: '' })}>
          New prompt
        </Button>
        <p className={css['keys']}>Or push the prompts of a folder:</p>
        <Code text="stet push" label="command" />
      </Empty>
    </div>
  )
}

/** In the place of a prompt that the draft deletes. */
export function DeletedPrompt({ path, panes, edits }: { path: string; panes: PaneLayout; edits: PromptEdits }) {
  const [state, setState] = useState<'idle' | 'busy' | { error: unknown }>('idle')
  const restore = async () => {
    setState('busy')
    try {
      await edits.revert(path)
      setState('idle')
    } catch (error) {
      noticeSignedOut(error)
      setState({ error })
    }
  }
  // There is nothing to run here, whatever tab the address names. Narrow screens need a way back to the list.
  const chosen = panes.chosen === 'tree' ? 'tree' : 'text'
  const alone: PaneLayout = {
    ...panes,
    tabs: ['tree', 'text'],
    chosen,
    isShown: (name) => name === chosen || !panes.isTab(name),
  }
  return (
    <>
      {panes.layout === 'narrow' && <PaneTabs panes={alone} />}
      <Pane name="text" panes={alone}>
        <div className={css['nothing']}>
          <h1 className="hidden-text" tabIndex={-1}>
            {path}
          </h1>
          <Empty
            line={
              <>
                This draft deletes <del>{path}</del>.
              </>
            }
          >
            <p>Live keeps it until the draft is published.</p>
            <Button blocked={edits.blocked} busy={state === 'busy'} onClick={restore}>
              Restore
            </Button>
            {typeof state === 'object' && <Failure error={state.error} what="The prompt was not restored" />}
          </Empty>
        </div>
      </Pane>
    </>
  )
}

import type { ApiError, TreeItem } from '@stet/sdk'
import { type UseQueryResult, useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { toPrompt } from '../../app/addresses.ts'
import { Failure } from '../../app/failure.tsx'
import { noticeSignedOut } from '../../app/session.ts'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/copy.tsx'
import { Key } from '../../ui/mark.tsx'
import { Empty } from '../../ui/states.tsx'
import type { EditPlace } from './edits/prompt-edits.ts'
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
        <p className="faint" data-keys>
          <Key>↑</Key> <Key>↓</Key> move in the list, <Key>⏎</Key> opens a prompt, <Key>n</Key> makes a new one.
        </p>
      </Empty>
    </div>
  )
}

/** The content of an empty version, in the list on narrow screens and beside it on others. */
export function FirstPrompt({ edits }: { edits: PromptEdits }) {
  return (
    <div className={css['nothing']}>
      <Empty line="There are no prompts here yet.">
        <Button look="primary" blocked={edits.blocked} onClick={() => edits.ask({ kind: 'new', path: '' })}>
          New prompt
        </Button>
        <p className="faint">Or push the prompts of a folder:</p>
        <Code text="stet push" label="command" />
      </Empty>
    </div>
  )
}

interface MissingPromptProps {
  path: string
  place: EditPlace
  edits: PromptEdits
  error: ApiError
}

/** At an address without a prompt. */
export function MissingPrompt({ path, place, edits, error }: MissingPromptProps) {
  const { suggestions } = Object(error.details)
  const similar: readonly string[] = Array.isArray(suggestions) ? suggestions : []
  return (
    <div className={css['nothing']} role="alert">
      <Empty line="There is no prompt at this address.">
        <Button look="primary" blocked={edits.blocked} onClick={() => edits.ask({ kind: 'new', path })}>
          Create it
        </Button>
        {similar.length > 0 && <p>Or open one with a similar path:</p>}
        {similar.map((one) => (
          <Link key={one} {...toPrompt(place.projectId, place.versionUuid, one)} className={css['suggestion']}>
            {one}
          </Link>
        ))}
      </Empty>
    </div>
  )
}

/** Without a prompt no tab applies, even if the address names one. Narrow screens need a way back to the list. */
export function textAlone(panes: PaneLayout): PaneLayout {
  const chosen = panes.chosen === 'tree' ? 'tree' : 'text'
  const tabs = (['tree', 'text'] as const).filter(panes.isTab)
  return { ...panes, tabs, chosen, isShown: (name) => name === chosen || !panes.isTab(name) }
}

interface DeletedPromptProps {
  place: EditPlace
  path: string
  /** If the draft only moves it: the new path. */
  movedTo: string | undefined
  panes: PaneLayout
  edits: PromptEdits
}

/** In the place of a prompt that the draft deletes or moves. */
export function DeletedPrompt({ place, path, movedTo, panes, edits }: DeletedPromptProps) {
  const restore = useMutation({ mutationFn: () => edits.revert(path), onError: noticeSignedOut })
  const alone = textAlone(panes)
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
              movedTo === undefined ? (
                <>
                  This draft deletes <del>{path}</del>.
                </>
              ) : (
                <>
                  This draft moves <del>{path}</del> to{' '}
                  <Link {...toPrompt(place.projectId, place.versionUuid, movedTo)}>{movedTo}</Link>.
                </>
              )
            }
          >
            <p>Live keeps it until the draft is published.</p>
            <Button blocked={edits.blocked} busy={restore.isPending} onClick={() => restore.mutate()}>
              Restore
            </Button>
            {restore.isError && <Failure error={restore.error} what="The prompt was not restored" />}
          </Empty>
        </div>
      </Pane>
    </>
  )
}

import type { TreeItem } from '@stet/sdk'
import { type UseQueryResult, useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { toPrompt } from '../../app/addresses.ts'
import { Failure } from '../../app/failure.tsx'
import { pathsOf, versionsQuery } from '../../app/queries.ts'
import { copiesIn, dropCopy, isThere, type OfferedText, onCopyDropped } from '../../editor/buffer/unsaved-copy.ts'
import { NotSaved } from '../../editor/frame/offered-copy.tsx'
import { Button, buttonClass } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Notice } from '../../ui/states.tsx'
import type { EditPlace } from './edits/prompt-edits.ts'
import type { PromptEdits } from './edits/use-prompt-edits.ts'
import css from './open.module.css'

interface LeftTextsProps {
  place: EditPlace
  /** The prompt that is open. Its own screen offers its copies. */
  path: string | undefined
  tree: UseQueryResult<TreeItem[]>
  edits: PromptEdits
}

/** More of them would leave no room for the prompts. The next ones follow as these are settled. */
const shownAtOnce = 3

/** Text that an ended page could not save, of prompts that no screen shows. */
export function LeftTexts({ place, path, tree, edits }: LeftTextsProps) {
  const copies = useCopies(place, path).map((copy) => {
    const movedTo = tree.data?.find((item) => item.path === copy.path)?.movedTo
    return { ...copy, path: movedTo ?? copy.path }
  })
  const { data: versions } = useQuery(versionsQuery(place.projectId))
  if (!tree.data || tree.isPlaceholderData || !versions) return null
  const paths = new Set(pathsOf(tree.data))
  const draftOf = ({ versionUuid }: OfferedText) =>
    versions.find(({ uuid, status }) => uuid === versionUuid && status === 'draft' && uuid !== place.versionUuid)
  const left = copies.filter((copy, at) => {
    if (!paths.has(copy.path)) return true
    return copy.path !== path && copies.findIndex((other) => other.path === copy.path) === at
  })
  if (left.length === 0) return null
  return (
    <section className={css['left']} aria-label="Unsaved texts">
      {left.slice(0, shownAtOnce).map((copy) => {
        const draft = draftOf(copy)
        if (paths.has(copy.path)) return <Elsewhere key={copy.key} {...{ copy, place }} />
        if (draft) return <Elsewhere key={copy.key} {...{ copy, place, draft }} />
        return <Missing key={copy.key} {...{ copy, edits }} />
      })}
      {left.length > shownAtOnce && <Notice tone="amber">And {left.length - shownAtOnce} more</Notice>}
    </section>
  )
}

interface ElsewhereProps extends Pick<LeftTextsProps, 'place'> {
  copy: OfferedText
  draft?: { uuid: string; title: string }
}

/** The prompt is in this version, or in the draft that the text was written in. Its editor offers the text. */
function Elsewhere({ copy: { path, copy }, place, draft }: ElsewhereProps) {
  const to = toPrompt(place.projectId, draft?.uuid ?? place.versionUuid, path)
  return (
    <NotSaved
      {...{ copy, path }}
      actions={
        <Link {...to} className={buttonClass()}>
          Open
        </Link>
      }
    >
      {draft ? ` in ${draft.title}` : ''}.
    </NotSaved>
  )
}

/** The prompt was deleted after the text was written. */
function Missing({ copy: { key, path, copy }, edits }: { copy: OfferedText } & Pick<LeftTextsProps, 'edits'>) {
  const restore = useMutation({ mutationFn: () => edits.create(path, copy.text), onSuccess: () => dropCopy(key) })
  return (
    <>
      <NotSaved
        {...{ copy, path }}
        actions={
          <>
            <CopyButton text={copy.text} label="Copy it" />
            <Button onClick={() => dropCopy(key)}>Discard</Button>
            <Button blocked={edits.blocked} busy={restore.isPending} onClick={() => restore.mutate()}>
              Restore as a new prompt
            </Button>
          </>
        }
      >
        . The prompt no longer exists here.
      </NotSaved>
      {restore.error && <Failure error={restore.error} what="The prompt was not created" />}
    </>
  )
}

/**
 * Read again when another prompt or version is opened. A copy that appears in between belongs to a tab that is still
 * saving it.
 */
function useCopies({ projectId, versionUuid }: EditPlace, path: string | undefined): readonly OfferedText[] {
  const [copies, setCopies] = useState<readonly OfferedText[]>([])
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    setCopies(copiesIn(projectId))
    return onCopyDropped(() => setCopies((known) => (known.every(isThere) ? known : known.filter(isThere))))
  }, [projectId, versionUuid, path])
  return copies
}

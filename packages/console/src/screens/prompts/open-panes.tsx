import { ApiError, type TreeItem } from '@stet/sdk'
import { useMutation } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { Fragment, lazy, type RefObject, Suspense, useCallback, useEffect, useRef, useState } from 'react'
import { Failure, messageOf } from '../../app/failure.tsx'
import { isMissing } from '../../app/frame/place.ts'
import { useShortcuts } from '../../app/shortcuts.ts'
import { foundIn } from '../../editor/frame/use-issues.ts'
import { type Opened, useOpenPrompt } from '../../editor/open-prompt.ts'
import { ParametersPane } from '../../editor/panes/parameters-pane.tsx'
import { PreviewPane } from '../../editor/panes/preview-pane.tsx'
import { ReferencesPane } from '../../editor/panes/references-pane.tsx'
import { UsePane } from '../../editor/panes/use-pane.tsx'
import type { GoTo, TextPlace } from '../../editor/text/line-ends.ts'
import { PromptTitle, RunPane } from '../../runs/run-pane.tsx'
import { Button } from '../../ui/button.tsx'
import { Skeleton } from '../../ui/states.tsx'
import type { EditPlace } from './edits/prompt-edits.ts'
import type { PromptEdits } from './edits/use-prompt-edits.ts'
import css from './open.module.css'
import type { PaneLayout } from './panes/layout.ts'
import { Pane, PaneTabs } from './panes/panes.tsx'
import { PromptHead } from './prompt-head.tsx'

const PromptEditor = lazy(() => import('../../editor/prompt-editor.tsx'))

interface OpenPanesProps {
  place: EditPlace
  path: string
  /** The prompt in the tree. Undefined while the tree is loading. */
  item: TreeItem | undefined
  example: string | undefined
  panes: PaneLayout
  edits: PromptEdits
}

/** The open prompt: its head, its text, and the panels beside it. */
export default function OpenPanes({ place, path, item, example, panes, edits }: OpenPanesProps) {
  const { projectId, versionUuid } = place
  const open = useOpenPrompt({ projectId, versionUuid, path })
  const { wanted, onReached, goTo } = useWantedPlace(panes)
  const hasEditor = useHasBeen(panes.isShown('text'))
  const { line } = useSearch({ strict: false })
  return (
    <>
      <PromptTitle projectId={projectId} documentUuid={item?.documentUuid ?? ''} path={path} />
      <header className={css['head']} hidden={panes.chosen === 'tree'}>
        <PromptHead {...{ path, place, item, edits }} />
      </header>
      <PaneTabs panes={panes} />
      {open.phase === 'open' && !hasEditor && <ErrorKeys open={open} goTo={goTo} />}
      <Pane name="text" panes={panes}>
        {open.phase === 'loading' && <Skeleton lines={6} />}
        {open.phase === 'failed' && (
          <Failure error={open.error} what="The prompt could not be opened" onRetry={open.retry}>
            <Suggestions error={open.error} place={place} />
            {isMissing(open.error) && <CreateIt {...{ path, edits }} onCreated={open.retry} />}
          </Failure>
        )}
        {open.phase === 'open' && (
          <Suspense fallback={<Skeleton lines={6} />}>
            <PromptEditor key={open.buffer.id} {...{ open, wanted, onReached, goTo, line }} />
          </Suspense>
        )}
      </Pane>
      <Pane name="run" panes={panes}>
        {open.phase === 'open' && <OpenRun {...{ projectId, versionUuid, path, example, open, goTo }} />}
      </Pane>
      <Pane name="parameters" panes={panes}>
        {open.phase === 'open' && panes.isShown('parameters') && <ParametersPane open={open} goTo={goTo} />}
      </Pane>
      <Pane name="preview" panes={panes}>
        {open.phase === 'open' && <PreviewPane open={open} example={example} />}
      </Pane>
      <Pane name="references" panes={panes}>
        {open.phase === 'open' && <ReferencesPane open={open} />}
      </Pane>
      <Pane name="use" panes={panes}>
        {open.phase === 'open' && <UsePane open={open} />}
      </Pane>
    </>
  )
}

function CreateIt({ path, edits, onCreated }: { path: string; edits: PromptEdits; onCreated: () => void }) {
  const create = useMutation({ mutationFn: () => edits.create(path), onSuccess: onCreated })
  return (
    <>
      {create.error && ` ${messageOf(create.error)}`}{' '}
      <Button blocked={edits.blocked} busy={create.isPending} onClick={() => create.mutate()}>
        Create it
      </Button>
    </>
  )
}

/** Prompts with similar paths. */
function Suggestions({ error, place: { projectId, versionUuid } }: { error: unknown; place: EditPlace }) {
  const { suggestions }: { suggestions?: unknown } = error instanceof ApiError ? Object(error.details) : {}
  if (!Array.isArray(suggestions)) return null
  const params = { project: String(projectId), version: versionUuid }
  return suggestions.map((path) => (
    <Fragment key={path}>
      {' '}
      <Link to="/p/$project/v/$version/prompts/$" params={{ ...params, _splat: path }} className={css['suggestion']}>
        {path}
      </Link>
    </Fragment>
  ))
}

interface OpenRunProps {
  projectId: number
  versionUuid: string
  path: string
  example: string | undefined
  open: Opened
  goTo: RefObject<GoTo>
}

/** The run pane, with callbacks that stay the same while the text changes. */
function OpenRun({ projectId, versionUuid, path, example, open, goTo }: OpenRunProps) {
  const { buffer, document } = open
  const navigate = useNavigate()
  const ready = useCallback(() => buffer.save(), [buffer])
  const onExample = useCallback(
    (uuid: string | undefined) =>
      void navigate({
        to: '.',
        search: ({ example: _, ...rest }) => (uuid ? { ...rest, example: uuid } : rest),
        replace: true,
      }),
    [navigate],
  )
  const latestGoTo = useRef(goTo)
  useEffect(() => {
    latestGoTo.current = goTo
  })
  const onLine = useCallback(
    (of: string, line: number, column: number) => {
      if (of === path) {
        latestGoTo.current.current({ line, column })
        return
      }
      const params = { project: String(projectId), version: versionUuid, _splat: of }
      void navigate({ to: '/p/$project/v/$version/prompts/$', params, search: { line } })
    },
    [navigate, projectId, versionUuid, path],
  )
  const textId = buffer.id
  return <RunPane {...{ projectId, versionUuid, path, textId, example, document, ready, onExample, onLine }} />
}

/** The editor's shortcuts for errors, until the editor is loaded. */
function ErrorKeys({ open: { document }, goTo }: Pick<OpenRunProps, 'open' | 'goTo'>) {
  const errors = foundIn(document).filter(({ path = document.path }) => path === document.path)
  const go = (at: 0 | -1) => () => {
    const error = errors.at(at)
    if (error) goTo.current(error)
  }
  useShortcuts([
    { keys: 'F8', label: 'Next error', group: 'Editor', run: go(0) },
    { keys: 'shift+F8', label: 'Previous error', group: 'Editor', run: go(-1) },
  ])
  return null
}

/** Stays true after `isNow` was true once. */
function useHasBeen(isNow: boolean): boolean {
  const [hasBeen, setHasBeen] = useState(isNow)
  if (isNow && !hasBeen) setHasBeen(true)
  return hasBeen
}

/**
 * The place to which a pane sends the editor's cursor. Shows the Text tab first, because a hidden element takes no focus.
 * The place is kept until the editor is loaded.
 */
function useWantedPlace(panes: PaneLayout) {
  const [wanted, setWanted] = useState<TextPlace | null>(null)
  const isShown = panes.isShown('text')
  const goTo: RefObject<GoTo> = {
    current: (place) => {
      if (!isShown) panes.choose('text')
      setWanted(place)
    },
  }
  return { wanted: isShown ? wanted : null, onReached: useCallback(() => setWanted(null), []), goTo }
}

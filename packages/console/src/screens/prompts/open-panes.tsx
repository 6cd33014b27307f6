import { ApiError, type RunOverrides, type TreeItem } from '@stet/sdk'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, type RefObject, Suspense, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { toPrompt, useSetSearch } from '../../app/addresses.ts'
import { Failure } from '../../app/failure.tsx'
import { useShortcuts } from '../../app/shortcuts.ts'
import { foundIn } from '../../editor/frame/use-issues.ts'
import { type Opened, type OpenPrompt, useOpenPrompt } from '../../editor/open-prompt.ts'
import { ParametersPane } from '../../editor/panes/parameters-pane.tsx'
import { PreviewPane } from '../../editor/panes/preview-pane.tsx'
import { ReferencesPane } from '../../editor/panes/references-pane.tsx'
import { UsePane } from '../../editor/panes/use-pane.tsx'
import type { GoTo, TextPlace } from '../../editor/text/line-ends.ts'
import { loadYaml } from '../../editor/text/load-yaml.ts'
import type { Arm } from '../../runs/compare/arms.ts'
import { PromptTitle, RunPane } from '../../runs/run-pane.tsx'
import { Skeleton } from '../../ui/states.tsx'
import { say } from '../../ui/toast.tsx'
import type { EditPlace } from './edits/prompt-edits.ts'
import type { PromptEdits } from './edits/use-prompt-edits.ts'
import { MissingPrompt, textAlone } from './no-prompt.tsx'
import css from './open.module.css'
import type { PaneLayout } from './panes/layout.ts'
import { Pane, PaneTabs, useHasBeen } from './panes/panes.tsx'
import { PromptHead } from './prompt-head.tsx'

const ExamplesPane = lazy(() => import('../../grid/examples-pane.tsx'))
const PromptEditor = lazy(() => import('../../editor/prompt-editor.tsx'))
const WordDiff = lazy(() => import('../../editor/diff/word-diff.tsx'))

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
export default function OpenPanes({ place, path, item, example, panes: all, edits }: OpenPanesProps) {
  const { projectId, versionUuid } = place
  const open = useOpenPrompt({ projectId, versionUuid, path })
  const panes = open.phase === 'failed' ? textAlone(all) : all
  const { wanted, onReached, goTo } = useWantedPlace(panes)
  const hasEditor = useHasBeen(panes.isShown('text'))
  const { line } = useSearch({ strict: false })
  const shown = useShownPrompt(open, path)
  return (
    <>
      <PromptTitle sessionKey={`${projectId}/${item?.documentUuid}`} path={path} />
      <header className={css['head']} hidden={panes.chosen === 'tree'}>
        <PromptHead {...{ path, place, item, edits }} />
      </header>
      {panes.tabs.length > 0 && <PaneTabs panes={panes} />}
      {open.phase === 'open' && !hasEditor && <ErrorKeys open={open} goTo={goTo} />}
      <Pane name="text" panes={panes}>
        {open.phase === 'loading' && <Skeleton lines={6} />}
        {open.phase === 'failed' && (
          <div data-failed>
            {open.error instanceof ApiError && open.error.reason === 'unknown-document' ? (
              <MissingPrompt {...{ path, place, edits }} error={open.error} />
            ) : (
              <Failure error={open.error} what="The prompt could not be opened" onRetry={open.retry} />
            )}
          </div>
        )}
        {open.phase === 'open' && (
          <Suspense fallback={<Skeleton lines={6} />}>
            <PromptEditor key={open.buffer.id} {...{ open, wanted, onReached, goTo, line }} />
          </Suspense>
        )}
      </Pane>
      <Pane name="run" panes={panes}>
        {shown && (
          <OpenRun
            {...{ projectId, versionUuid, path, example, goTo, ...shown }}
            blocked={open.phase === 'open' ? open.blocked : 'the prompt is loading'}
            isLoading={open.phase !== 'open'}
          />
        )}
      </Pane>
      <Pane name="examples" panes={panes}>
        {shown && panes.isShown('examples') && <OpenExamples {...{ projectId, versionUuid, ...shown }} />}
      </Pane>
      <Pane name="parameters" panes={panes}>
        {open.phase === 'open' && panes.isShown('parameters') && <ParametersPane open={open} goTo={goTo} />}
      </Pane>
      <Pane name="preview" panes={panes}>
        {open.phase === 'open' && panes.isShown('preview') && <PreviewPane open={open} example={example} />}
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

interface OpenRunProps {
  projectId: number
  versionUuid: string
  path: string
  example: string | undefined
  buffer: Opened['buffer']
  document: Opened['document']
  isLoading: boolean
  /** Why the text cannot be edited now. */
  blocked: string | null
  goTo: RefObject<GoTo>
}

/** The run pane, with callbacks that stay the same while the text changes. */
function OpenRun({ buffer, goTo, blocked, ...props }: OpenRunProps) {
  const { projectId, versionUuid, path } = props
  const navigate = useNavigate()
  const ready = useCallback(() => buffer.save(), [buffer])
  const { run, arms } = useSearch({ strict: false })
  const setSearch = useSetSearch()
  const onExample = useCallback((example: string | undefined) => setSearch({ example }), [setSearch])
  const onRun = useCallback((run: string) => setSearch({ run }), [setSearch])
  const onArms = useCallback((arms: Arm[]) => setSearch({ arms: arms.length > 0 ? arms : undefined }), [setSearch])
  const editor = useMemo(
    () => ({ blocked, WordDiff, keep: (overrides: RunOverrides) => void keepSettings(buffer, overrides) }),
    [blocked, buffer],
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
      void navigate({ ...toPrompt(projectId, versionUuid, of), search: { line } })
    },
    [navigate, projectId, versionUuid, path],
  )
  return <RunPane {...props} {...{ ready, onExample, run, onRun, arms, onArms, editor, onLine }} textId={buffer.id} />
}

/** The examples and their results. They take the room of the text, because answers are compared beside each other. */
function OpenExamples({ buffer, ...props }: Pick<OpenRunProps, 'projectId' | 'versionUuid' | 'buffer' | 'document'>) {
  const navigate = useNavigate()
  const setSearch = useSetSearch()
  const { experiment } = useSearch({ strict: false })
  return (
    <Suspense fallback={<Skeleton lines={6} />}>
      <ExamplesPane
        {...{ ...props, experiment }}
        ready={() => buffer.save()}
        onExperiment={(next) => setSearch({ experiment: next }, true)}
        onRun={({ uuid }) => void navigate({ to: '.', search: { tab: 'run', example: uuid } })}
      />
    </Suspense>
  )
}

/** Writes the settings of a compared run into the front matter, as if the user had typed them. */
async function keepSettings(buffer: Opened['buffer'], overrides: RunOverrides): Promise<void> {
  const { withScalar } = await loadYaml()
  // Both names limit the answer, and the other one would win.
  const settings = { ...overrides, ...(overrides.maxTokens !== undefined && { maxOutputTokens: null }) }
  const after = Object.entries(settings).reduce((text, [key, value]) => withScalar(text, key, value), buffer.state.text)
  buffer.edit(after)
  say('The front matter has these settings now')
}

/** The editor's shortcuts for errors, until the editor is loaded. */
function ErrorKeys({ open: { document }, goTo }: { open: Opened; goTo: RefObject<GoTo> }) {
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

/**
 * The prompt whose runs the run pane shows. While another version of the prompt loads, for example after it was
 * published, the pane stays with its inputs and its answer.
 */
function useShownPrompt(open: OpenPrompt, path: string): Pick<Opened, 'buffer' | 'document'> | null {
  const [shown, setShown] = useState<Pick<Opened, 'buffer' | 'document'> | null>(null)
  if (open.phase !== 'open') return open.phase === 'loading' && shown?.document.path === path ? shown : null
  const { buffer, document } = open
  if (shown?.document !== document || shown.buffer !== buffer) setShown({ buffer, document })
  return open
}

/**
 * The place to which a pane sends the editor's cursor. Shows the Text tab first, because a hidden element takes no
 * focus. The place is kept until the editor is loaded.
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

import type { Example, Prompt } from '@stet/sdk'
import { useQuery } from '@tanstack/react-query'
import { lazy, memo, Suspense, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import { examplesQuery } from '../app/queries.ts'
import { useBlocked } from '../app/session.ts'
import { keyText, useShortcuts } from '../app/shortcuts.ts'
import { Button, Hidden, join } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import runningMark from '../ui/marks/mark-running.svg'
import { Notice } from '../ui/states.tsx'
import layout from '../ui/styles/layout.module.css'
import { counted } from '../ui/time.tsx'
import { say } from '../ui/toast.tsx'
import type { EditorPart } from './compare/arm-column.tsx'
import { type Arm, mostArms } from './compare/arms.ts'
import { type Column, type Comparison, comparisonOf, isComparing } from './compare/comparison.ts'
import { answerText, isActive, type RunTrouble, type RunView } from './follow-run.ts'
import { Examples } from './inputs/examples.tsx'
import { InputForm } from './inputs/input-form.tsx'
import {
  clientTools,
  draftsOf,
  inputsOf,
  missingIn,
  type Parsed,
  type PromptInput,
  requiredInput,
  valuesOf,
} from './inputs/input-value.ts'
import type { KeptInputs } from './inputs/kept-inputs.ts'
import { PasteJson } from './inputs/paste-json.tsx'
import { type Inputs, useInputs } from './inputs/use-inputs.ts'
import { useRenamedInput } from './inputs/use-renamed-input.ts'
import { Output } from './output/output.tsx'
import { mayTakeFocus } from './output/tool-call.tsx'
import css from './run-pane.module.css'
import { agentPaths, RunPlaceContext } from './run-place.ts'
import { isRunning, type RunSession, runSession } from './session/run-session.ts'
import { mayStream } from './session/streams.ts'
import { watchRuns } from './session/watch-runs.ts'

const Compare = lazy(() => import('./compare/compare.tsx'))

export interface RunPaneProps {
  projectId: number
  versionUuid: string
  path: string
  /** Stays the same while one text is edited. Another version of the prompt has another text. */
  textId: string
  /** The prompt as it is stored. Its parameters are the fields of the form. */
  document: Prompt
  /** Saves the text, and returns the version that has it. A rejection is shown, and nothing runs. */
  ready: () => Promise<{ versionUuid: string; contentHash: string }>
  /** The uuid of the chosen example, from the page's address. */
  example?: string | undefined
  onExample: (uuid: string | undefined) => void
  /** The uuid of the shown run or of its conversation, from the page's address. */
  run?: string | undefined
  onRun: (uuid: string) => void
  /** The compared arms, from the page's address. */
  arms?: readonly Arm[] | undefined
  onArms: (arms: Arm[]) => void
  editor: EditorPart
  /** Shows a place of a prompt in the editor. */
  onLine: (path: string, line: number, column: number) => void
  /** Another version of the prompt is loading. The pane shows that of the version before. */
  isLoading: boolean
}

/**
 * The inputs of a prompt, its run, and the conversation that follows. The props stay the same while the user types into
 * the editor, so that the pane is not rendered for each key.
 */
export const RunPane = memo(function RunPane(props: RunPaneProps) {
  const { projectId, document } = props
  // The same prompt keeps its inputs and its run in every version.
  const key = `${projectId}/${document.documentUuid}`
  return <Pane key={key} {...props} storageKey={key} />
})

/** The title of a prompt's page. It shows in the browser's tab that a run is active. */
export function PromptTitle({ sessionKey, path }: { sessionKey: string; path: string }) {
  const runs = useSyncExternalStore(watchRuns, () => isRunning(sessionKey) || isComparing(sessionKey))
  return (
    <>
      <title>{runs ? `▸ ${path} · stet` : `${path} · stet`}</title>
      {runs && <link rel="icon" type="image/svg+xml" href={runningMark} />}
    </>
  )
}

function Pane({ storageKey, ...props }: RunPaneProps & { storageKey: string }) {
  const { document, ready, projectId, versionUuid, path, example, onLine, isLoading } = props
  const needsRun = useBlocked('run')
  const session = runSession(storageKey)
  // The words of the answer change many times a second. They concern the output alone.
  const round = useSyncExternalStore(watchRuns, () => session.outline)
  const view = round?.view
  useShownRun(session, props.run, props.onRun)
  const comparison = comparisonOf(storageKey)
  const columns = useShownArms(comparison, props)
  const inputs = useInputs(storageKey)
  useRenamedInput(document, props.textId, inputs.rename)
  const fields = useMemo(() => inputsOf(document), [document])
  const typed = useMemo(() => valuesOf(fields, inputs.drafts), [fields, inputs.drafts])
  const examples = useQuery({ ...examplesQuery(projectId, document.documentUuid), enabled: fields.length > 0 })
  const chosen = examples.data?.find(({ uuid }) => uuid === example)
  const messages = chosen?.messages ?? []
  // A run must not start with the inputs that the example is about to replace.
  const isFilling =
    fields.length > 0 &&
    example !== undefined &&
    example !== inputs.example &&
    (examples.isPending || chosen !== undefined)
  const blocked = needsRun || (isLoading && 'the prompt is loading') || (isFilling && 'the example is loading')
  const [marks, setMarks] = useState<Marks>({ found: {}, edited: [] })
  const pane = useShownProblem(marks)
  const run = () => {
    if (blocked) return
    const { parameters, problems } = typed
    const found = { ...missingIn(fields, parameters), ...problems }
    setMarks({ found, edited: [] })
    if (Object.keys(found).length > 0) return
    const request = { projectId, path, parameters, messages, tools: place.tools, ready }
    if (columns.length > 0) comparison.run(request)
    else void session.run(request)
  }
  const problems = shownProblems(marks, round?.said === null ? view?.trouble : null)
  const isRefused = Object.keys(marks.found).some((name) => problems[name])
  const compared = useSyncExternalStore(watchRuns, () => comparedText(columns))
  const announced = useMemo(() => compared || (view ? announcement(view) : ''), [view, compared])
  const { config } = document
  const place = useMemo(
    () => ({ projectId, versionUuid, agents: agentPaths(config, path), tools: clientTools(config), onLine }),
    [projectId, versionUuid, config, path, onLine],
  )
  return (
    <section ref={pane} className={css['pane']} aria-label="Run" data-run-pane data-keeps-focus="[data-run-bar] button">
      <div className={css['layout']}>
        <InputsPart
          {...props}
          {...{ fields, inputs, typed, problems }}
          onEdited={(...names) => setMarks({ ...marks, edited: [...marks.edited, ...names] })}
        />
        <RunBar {...{ session, comparison, view, blocked }} onRun={run} />
        <RunPlaceContext value={place}>
          {columns.length > 0 ? (
            <Suspense fallback={<div />}>
              <Compare {...{ comparison, projectId }} editor={props.editor} />
            </Suspense>
          ) : (
            <Output session={session} hasInputs={fields.length > 0} />
          )}
        </RunPlaceContext>
      </div>
      <Hidden>
        <span aria-live="polite">
          {isRefused ? `The run has not started. Correct ${Object.keys(problems).join(', ')} first.` : announced}
        </span>
      </Hidden>
    </section>
  )
}

/** Shows the run of the page's address, and writes the shown one into the address. */
function useShownRun(session: RunSession, run: string | undefined, onRun: (uuid: string) => void): void {
  const shown = useSyncExternalStore(watchRuns, () => session.conversationUuid)
  useEffect(() => {
    void session.open(run)
    // Another run may be shown since the last rendering.
    const { conversationUuid } = session
    if (conversationUuid && shown === conversationUuid && conversationUuid !== run) onRun(conversationUuid)
  }, [session, run, shown, onRun])
}

/** Shows the arms of the page's address, and writes those of the pane into the address. */
function useShownArms(comparison: Comparison, { arms = none, run, onArms }: RunPaneProps): readonly Column[] {
  const columns = useSyncExternalStore(watchRuns, () => comparison.columns)
  // biome-ignore lint/correctness/useExhaustiveDependencies: other columns need another address
  useEffect(() => {
    const now = comparison.open(arms, run)
    if (JSON.stringify(now) !== JSON.stringify(arms)) onArms(now)
  }, [comparison, arms, run, columns, onArms])
  return columns
}

const none: readonly Arm[] = []

/** The problems that the last attempt to run has found, and the fields edited since. */
interface Marks {
  found: Readonly<Record<string, string>>
  edited: readonly string[]
}

/** Shows the first marked field after an attempt, with the focus unless the user is typing elsewhere. */
function useShownProblem({ found, edited }: Marks) {
  const pane = useRef<HTMLElement>(null)
  useEffect(() => {
    if (edited.length > 0 || Object.keys(found).length === 0) return
    const field = pane.current?.querySelector<HTMLElement>('[aria-invalid]')
    if (field && mayTakeFocus(field)) field.focus()
    field?.scrollIntoView({ block: 'nearest' })
  }, [found, edited])
  return pane
}

/** With what the server found wrong with the inputs of the last run. */
function shownProblems({ found, edited }: Marks, trouble: RunTrouble | null | undefined): Record<string, string> {
  const all = [
    ...(trouble?.missing ?? []).map((name) => [name, requiredInput] as const),
    ...(trouble?.invalid ?? []).map(({ name, expected }) => [name, `This must be ${expected}.`] as const),
    ...Object.entries(found),
  ]
  return Object.fromEntries(all.filter(([name]) => !edited.includes(name)))
}

interface InputsPartProps extends RunPaneProps {
  fields: readonly PromptInput[]
  inputs: Inputs
  typed: Parsed
  problems: Record<string, string>
  onEdited: (...names: string[]) => void
}

function InputsPart(props: InputsPartProps) {
  const { projectId, document, example, onExample, fields, inputs, typed, problems, onEdited } = props
  const [isPasting, setPasting] = useState(false)
  const writeBlocked = useBlocked('write')
  const belongTo = (uuid: string | undefined) => {
    inputs.belongTo(uuid)
    onExample(uuid)
  }
  const fill = (next: KeptInputs, text: string) => {
    const { drafts, example: before } = inputs
    inputs.replace(next)
    onEdited(...fields.map(({ name }) => name))
    if (Object.values(drafts).every((draft) => draft.text === '')) return
    const undo = () => {
      inputs.replace({ drafts, example: before })
      onExample(before)
    }
    say(text, { label: 'Undo', onSelect: undo })
  }
  const fillFrom = ({ uuid, name, parameters: values }: Example) =>
    fill({ drafts: draftsOf(fields, values), example: uuid }, `Filled in from ${name}`)
  return (
    <div className={join(layout['stack'], css['inputs'])} data-keeps-focus="button">
      <div className={join(layout['row'], layout['head'])}>
        <h2 className={layout['title']}>Inputs</h2>
        {fields.length > 0 && !isPasting && (
          <Button look="quiet" className={layout['aside']} onClick={() => setPasting(true)}>
            Paste JSON
          </Button>
        )}
      </div>
      {isPasting && (
        <PasteJson
          inputs={fields}
          parameters={typed.parameters}
          onFill={(drafts) =>
            fill({ drafts: { ...inputs.drafts, ...drafts }, example: inputs.example }, 'Filled in from JSON')
          }
          onClose={() => setPasting(false)}
        />
      )}
      {fields.length > 0 ? (
        <Examples
          projectId={projectId}
          documentUuid={document.documentUuid}
          chosen={example}
          filled={inputs.example}
          fields={fields}
          typed={typed}
          blocked={writeBlocked}
          onFill={fillFrom}
          onChoose={onExample}
          onBelong={belongTo}
        />
      ) : (
        <p className={layout['quiet']}>
          {document.errors.length > 0 ? 'The inputs appear when the prompt compiles.' : 'This prompt has no inputs.'}
        </p>
      )}
      <InputForm
        inputs={fields}
        drafts={inputs.drafts}
        problems={problems}
        onChange={(name, draft) => {
          inputs.change(name, draft)
          onEdited(name)
        }}
      />
      {!inputs.isKept && (
        <Notice tone="amber">These inputs are too large to store in this browser. Reloading discards them.</Notice>
      )}
    </div>
  )
}

const runKeys = 'mod+Enter'
const stopKeys = 'mod+.'
const compareKeys = 'mod+shift+Enter'

interface RunBarProps {
  session: RunSession
  comparison: Comparison
  view: RunView | undefined
  blocked: string | false
  onRun: () => void
}

function RunBar({ session, comparison, view, blocked: given, onRun }: RunBarProps) {
  const arms = useSyncExternalStore(watchRuns, () => comparison.columns.length)
  const overrides = useSyncExternalStore(watchRuns, () => comparison.columns.some(({ arm }) => arm.overrides))
  const isOn = useSyncExternalStore(watchRuns, () => (arms > 0 ? comparison : session).isActive)
  const isFull = useSyncExternalStore(watchRuns, () => !mayStream())
  const needsWrite = useBlocked('write')
  const blocked = given || (overrides && needsWrite)
  const stop = () => (arms > 0 ? comparison : session).stop()
  const fullBlocked = session.isActive ? 'the run is active' : arms === mostArms && 'four arms at most'
  useShortcuts([
    { keys: runKeys, label: arms > 0 ? 'Run all arms' : 'Run the prompt', group: 'Run', blocked, run: onRun },
    { keys: stopKeys, label: 'Stop the run', group: 'Run', blocked: !isOn && 'nothing runs', run: stop },
    {
      keys: compareKeys,
      label: arms > 0 ? 'Add an arm' : 'Compare',
      group: 'Run',
      blocked: fullBlocked,
      run: () => comparison.add(),
    },
  ])
  return (
    <div className={join(layout['row'], css['bar'])} data-run-bar>
      {isOn ? (
        <Button
          busy={arms === 0 && view?.isStopping}
          shortcut={keyText(stopKeys)}
          // The second click of a double click on Run arrives here.
          onClick={({ detail }) => detail <= 1 && stop()}
        >
          <Icon name="stop" /> Stop
        </Button>
      ) : (
        <Button
          data-run
          look="primary"
          shortcut={keyText(runKeys)}
          blocked={blocked || (arms === 0 && isFull && 'two other runs are active')}
          onClick={onRun}
        >
          <Icon name="run" /> {arms > 0 ? 'Run all' : view ? 'Run again' : 'Run'}
        </Button>
      )}
      <Button look="quiet" shortcut={keyText(compareKeys)} blocked={fullBlocked} onClick={() => comparison.add()}>
        {arms > 0 ? 'Add an arm' : 'Compare'}
      </Button>
    </div>
  )
}

/** For screen readers: how many of the compared runs have ended. Empty without a comparison that has run. */
function comparedText(columns: readonly Column[]): string {
  const views = columns.flatMap(({ session }) => session.outline?.view ?? [])
  if (views.length === 0) return ''
  return `${views.filter((view) => !isActive(view)).length} of ${counted(views.length, 'run')} have ended`
}

/** For screen readers: the start, the end and the length, but not the words as they arrive. */
function announcement(view: RunView): string {
  if (isActive(view)) return 'The run has started'
  const words = counted(answerText(view).match(/\S+/g)?.length ?? 0, 'word')
  if (view.phase === 'completed') return `The run has ended with ${words}`
  if (view.phase === 'stopped') return `The run was stopped after ${words}`
  return `The run failed after ${words}: ${view.trouble?.message ?? ''}`
}

import { autocompletion, closeCompletion, completionKeymap, currentCompletions } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { bracketMatching } from '@codemirror/language'
import { nextDiagnostic, previousDiagnostic } from '@codemirror/lint'
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search'
import { Compartment, EditorState, type Extension, Prec } from '@codemirror/state'
import {
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view'
import { useQuery } from '@tanstack/react-query'
import { lazy, type RefObject, Suspense, use, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { providersQuery, treeQuery } from '../app/queries.ts'
import { NonceContext } from '../app/session.ts'
import { useShortcuts } from '../app/shortcuts.ts'
import { bufferExtensions, connectView } from './buffer/connect-view.ts'
import type { PromptBuffer } from './buffer/prompt-buffer.ts'
import { tabKey } from './buffer/tab-key.ts'
import { type CompletionFacts, completePromptl } from './completions.ts'
import { diagnostics, showIssues, toIndex, toPosition } from './diagnostics.ts'
import css from './frame/editor.module.css'
import { frontMatterLines } from './frame/front-matter-lines.ts'
import { IssueList } from './frame/issue-list.tsx'
import { OfferedCopy } from './frame/offered-copy.tsx'
import { SettingsStrip } from './frame/settings-strip.tsx'
import { StatusLine } from './frame/status-line.tsx'
import { editorTheme } from './frame/theme.ts'
import { type FoundIssues, isError, useIssues } from './frame/use-issues.ts'
import type { Opened } from './open-prompt.ts'
import { promptl } from './promptl-mode.ts'
import { type GoTo, indexOf, placeOf, type TextPlace } from './text/line-ends.ts'
import { typeOver } from './text/type-over.ts'

const loadConflict = () => import('./diff/unsaved-conflict.tsx')
const UnsavedConflict = lazy(loadConflict)

interface PromptEditorProps {
  open: Opened
  /** The place to which a pane sends the cursor. `onReached` is called when the cursor is there. */
  wanted: TextPlace | null
  onReached: () => void
  /** Sets `wanted`, after showing the text if it is a tab that is not chosen. */
  goTo: RefObject<GoTo>
  /** The line of the page's address, where the cursor begins. */
  line?: number | undefined
}

/** The text of a prompt, with its settings above, its errors below, and where it is saved. */
export default function PromptEditor({ open, wanted, onReached, goTo, line }: PromptEditorProps) {
  const { buffer, readOnly, status, document } = open
  const { issues, text: compiled } = useIssues(open)
  const facts = useFacts(open)
  const { host, view, cursor } = useEditorView(buffer, readOnly, facts)
  const [merge, setMerge] = useMerging(view, status)
  // The editor that the user sees.
  const shown = merge ?? view

  useEffect(() => {
    shown?.dispatch(showIssues(shown.state, compiled, ownIssues(issues, document.path)))
  }, [shown, issues, compiled, document.path])

  const move: GoTo = (place) => shown && showPlace(shown, place)
  useEffect(() => {
    if (view && line) showPlace(view, { line, column: 1 })
  }, [view, line])
  useEffect(() => {
    if (!shown || !wanted) return
    showPlace(shown, wanted)
    onReached()
  }, [shown, wanted, onReached])

  const goToError = (go: typeof nextDiagnostic) => () => {
    const [first] = ownIssues(issues, document.path)
    if (shown?.dom.offsetParent === null) first && goTo.current(first)
    else if (shown && go(shown)) shown.focus()
  }
  useShortcuts([
    { keys: 'mod+s', label: 'Save now', group: 'Editor', run: () => buffer.dispatch({ on: 'flush' }) },
    { keys: 'F8', label: 'Next error', group: 'Editor', run: goToError(nextDiagnostic) },
    { keys: 'shift+F8', label: 'Previous error', group: 'Editor', run: goToError(previousDiagnostic) },
  ])

  return (
    <div className={css['editor']} data-keeps-focus=".cm-content">
      <SettingsStrip open={open} />
      <OfferedCopy open={open} />
      <div className={css['text']} hidden={merge !== null}>
        <div ref={host} className={css['host']} />
      </div>
      {status.kind === 'conflict' && (
        <Suspense>
          <UnsavedConflict
            key={status.stored.contentHash}
            buffer={buffer}
            stored={status.stored}
            main={view}
            onMerging={setMerge}
          />
        </Suspense>
      )}
      <IssueList issues={issues} path={document.path} onSelect={move} />
      <StatusLine open={open} cursor={cursor} errors={issues.filter(isError).length} />
    </div>
  )
}

/**
 * The editor of the merge that covers the text during a conflict. Until it is loaded, the editor stays and keeps the focus, because
 * without a focused field the next keys would be shortcuts of the page.
 */
function useMerging(view: EditorView | null, { kind }: Opened['status']) {
  const [merge, setMerge] = useState<EditorView | null>(null)
  const wasMerging = useRef(false)
  useEffect(() => {
    // A failure is reported when the merge is needed.
    if (kind === 'saving') void loadConflict().catch(() => undefined)
  }, [kind])
  useLayoutEffect(() => {
    if (wasMerging.current && !merge && document.activeElement === document.body) view?.focus()
    wasMerging.current = merge !== null
  }, [merge, view])
  return [merge, setMerge] as const
}

/** Issues of referenced prompts have positions in another text. They are only in the list. */
function ownIssues(issues: FoundIssues['issues'], path: string): FoundIssues['issues'] {
  return issues.filter((issue) => (issue.path ?? path) === path)
}

function useFacts({ document, place }: Opened): RefObject<CompletionFacts> {
  const { data: providers = [] } = useQuery(providersQuery)
  // The list beside the editor polls this query.
  const tree = treeQuery(place.projectId, place.versionUuid)
  const { data: items = [] } = useQuery({ ...tree, refetchInterval: false })
  const facts = useRef<CompletionFacts>({ parameters: [], providers: [], paths: [] })
  useEffect(() => {
    facts.current = {
      parameters: Object.keys(document.parameters),
      providers,
      paths: items.filter(({ change, path }) => change !== 'deleted' && path !== document.path).map(({ path }) => path),
    }
  })
  return facts
}

const editable = new Compartment()

/** One editor for each buffer. React renders around it and never touches the text. */
function useEditorView(buffer: PromptBuffer, readOnly: string | null, facts: RefObject<CompletionFacts>) {
  const nonce = use(NonceContext)
  const host = useRef<HTMLDivElement>(null)
  const [view, setView] = useState<EditorView | null>(null)
  const [cursor, setCursor] = useState<TextPlace>({ line: 1, column: 1 })
  const isReadOnly = readOnly !== null

  // biome-ignore lint/correctness/useExhaustiveDependencies: whether it can be edited changes below, without a new view
  useEffect(() => {
    if (!host.current) return
    const created = new EditorView({
      parent: host.current,
      state: EditorState.create({
        doc: buffer.state.text,
        extensions: [
          EditorView.cspNonce.of(nonce),
          bufferExtensions(buffer),
          editable.of(EditorState.readOnly.of(isReadOnly)),
          editing(facts),
          tabKey(buffer),
          // Computed with each update, because the prompt may move.
          EditorView.contentAttributes.of(() => ({
            'aria-label': `Text of ${buffer.place.path}. Press Escape, then Tab to leave the editor.`,
          })),
          EditorView.domEventHandlers({ blur: () => buffer.dispatch({ on: 'flush' }) }),
          EditorView.updateListener.of((update) => {
            if (update.selectionSet || update.docChanged) setCursor(placeOfCursor(update.state))
          }),
        ],
      }),
    })
    const disconnect = connectView(created, buffer)
    setView(created)
    return () => {
      disconnect()
      created.destroy()
      setView(null)
    }
  }, [buffer, nonce, facts])

  useEffect(() => {
    view?.dispatch({ effects: editable.reconfigure(EditorState.readOnly.of(isReadOnly)) })
  }, [view, isReadOnly])
  return { host, view, cursor }
}

function showPlace(view: EditorView, place: TextPlace): void {
  const at = toPosition(view.state, indexOf(view.state.sliceDoc(), place))
  view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: 'center' }) })
  view.focus()
}

/** Escape belongs to the completion only while a list is shown, and to a dialog beside the editor otherwise. */
const completionKeys = completionKeymap.map((binding) =>
  binding.key === 'Escape' ? { ...binding, run: closeShownCompletion } : binding,
)

function closeShownCompletion(view: EditorView): boolean {
  const isShown = currentCompletions(view.state).length > 0
  return closeCompletion(view) && isShown
}

function editing(facts: RefObject<CompletionFacts>): Extension {
  return [
    lineNumbers(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    highlightSpecialChars(),
    highlightSelectionMatches(),
    frontMatterLines,
    history(),
    bracketMatching(),
    EditorView.lineWrapping,
    promptl(),
    typeOver,
    autocompletion({ override: [completePromptl(() => facts.current)], icons: false, defaultKeymap: false }),
    Prec.highest(keymap.of(completionKeys)),
    diagnostics(),
    keymap.of([...searchKeymap, ...historyKeymap, ...defaultKeymap]),
    editorTheme,
  ]
}

function placeOfCursor(state: EditorState): TextPlace {
  const { head } = state.selection.main
  const { number, from } = state.doc.lineAt(head)
  // A lone \r ends a line for the compiler, but is a character of a text with several kinds of line breaks.
  if (state.lineBreak !== '\n') return { line: number, column: head - from + 1 }
  return state.sliceDoc(from, head).includes('\r')
    ? placeOf(state.sliceDoc(), toIndex(state, head))
    : { line: number, column: head - from + 1 }
}

import { Link } from '@tanstack/react-router'
import { type ReactNode, useRef } from 'react'
import { stepFrom, useShortcuts, useStepKeys } from '../../app/shortcuts.ts'
import { Button } from '../../ui/button.tsx'
import { Chip } from '../../ui/mark.tsx'
import shared from '../../ui/styles/layout.module.css'
import { counted } from '../../ui/time.tsx'
import { type ChangeKind, changeMarks, changeWords, describeChange, type PromptChange } from './changed-prompts.ts'
import { type DiffLayout, TextDiff } from './text-diff.tsx'
import css from './version-diff.module.css'

interface VersionDiffProps {
  changes: readonly PromptChange[]
  /** The path of the prompt whose difference is shown. */
  current: string | undefined
  onChoose: (path: string) => void
  layout: DiffLayout
  onLayout: (layout: DiffLayout) => void
  /** `[` and `]` choose a prompt, on a screen where they have nothing else to choose. */
  hasStepKeys?: boolean
  /** At the end of a line of the list, for example a mark that it was seen. */
  note?: (change: PromptChange) => ReactNode
  /** Below the title of the shown prompt: how it was tried. */
  evidence?: (change: PromptChange) => ReactNode
  /** Beside the title of the shown prompt. */
  actions?: (change: PromptChange) => ReactNode
}

/** The prompts that a version changes, and the difference of one of them. Only that one is compared. */
export function VersionDiff(props: VersionDiffProps) {
  const { changes, current, onChoose, layout, onLayout, hasStepKeys, note, evidence, actions } = props
  const list = useRef<HTMLUListElement>(null)
  const shown = changes.find(({ path }) => path === current) ?? changes[0]
  const move = (step: 1 | -1) => {
    const next = stepFrom(changes, shown, step)
    if (!next) return
    onChoose(next.path)
    // The shown text, where the focus may be, is replaced.
    list.current?.querySelectorAll<HTMLElement>('a')[changes.indexOf(next)]?.focus()
  }
  useShortcuts([
    { keys: 'j', label: 'Next prompt', group: 'Changes', inPalette: false, run: () => move(1) },
    { keys: 'k', label: 'Previous prompt', group: 'Changes', inPalette: false, run: () => move(-1) },
    {
      keys: 'u',
      label: layout === 'unified' ? 'Show the texts side by side' : 'Show one text',
      group: 'Changes',
      run: () => onLayout(layout === 'unified' ? 'split' : 'unified'),
    },
  ])
  if (!shown) return null
  return (
    <div className={css['box']}>
      {hasStepKeys && <StepKeys onStep={move} />}
      <div className={css['changes']}>
        <nav aria-label="Changed prompts" className={css['list']}>
          <ul ref={list}>
            {changes.map((change) => (
              <li key={change.documentUuid + change.path}>
                <ChangeLink change={change} isCurrent={change === shown} note={note?.(change)} />
              </li>
            ))}
          </ul>
        </nav>
        <section className={shared['apart']} aria-label={shown.path}>
          <header className={css['head']}>
            <h2 className={css['path']}>{shown.path}</h2>
            <div className={css['actions']}>{actions?.(shown)}</div>
          </header>
          {evidence?.(shown)}
          <ChangedText key={shown.path} change={shown} layout={layout} />
        </section>
      </div>
    </div>
  )
}

/** The difference of one prompt. */
export function ChangedText({ change, layout }: { change: PromptChange; layout: DiffLayout }) {
  const { path, status, before, after, movedFrom } = change
  const description = describeChange(status, change)
  return (
    <>
      {movedFrom && (
        <p>
          Moved from <code>{movedFrom.path}</code>
          {!movedFrom.contentHash && ', with the same text'}
        </p>
      )}
      {(!movedFrom || movedFrom.contentHash) && (
        <TextDiff
          label={`${path}, ${description}`}
          before={before?.content ?? ''}
          after={after?.content ?? ''}
          layout={layout}
        />
      )}
    </>
  )
}

function StepKeys({ onStep }: { onStep: (step: 1 | -1) => void }) {
  useStepKeys('prompt', 'Changes', onStep)
  return null
}

function ChangeLink({ change, isCurrent, note }: { change: PromptChange; isCurrent: boolean; note: ReactNode }) {
  return (
    <Link
      to="."
      search={(search) => ({ ...search, prompt: change.path })}
      replace
      className={css['change']}
      aria-current={isCurrent || undefined}
      data-row
    >
      <span className={css['mark']} data-status={change.status} aria-hidden="true">
        {changeMarks[change.status]}
      </span>
      <span className={css['name']}>
        {change.path}
        <span className="hidden-text">{` ${describeChange(change.status, change)}`}</span>
      </span>
      {change.conflict && <Chip tone="red">live changed</Chip>}
      {note}
    </Link>
  )
}

/** "3 prompts: 1 added, 2 changed". */
export function changeText(changes: readonly PromptChange[]): string {
  const parts = (Object.keys(changeMarks) as ChangeKind[]).flatMap((status) => {
    const count = changes.filter((change) => change.status === status).length
    return count ? [`${count} ${changeWords[status]}`] : []
  })
  return `${counted(changes.length, 'prompt')}: ${parts.join(', ')}`
}

/** One text with its changes, or both side by side. */
export function LayoutSwitch({ layout, onChange }: { layout: DiffLayout; onChange: (layout: DiffLayout) => void }) {
  return (
    <fieldset className={css['switch']} aria-label="Layout of the differences">
      <Button look="quiet" aria-pressed={layout === 'unified'} onClick={() => onChange('unified')}>
        Unified
      </Button>
      <Button look="quiet" aria-pressed={layout === 'split'} onClick={() => onChange('split')}>
        Side by side
      </Button>
    </fieldset>
  )
}

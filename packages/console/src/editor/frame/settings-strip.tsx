import type { ProviderModel } from '@stet/sdk'
import { useQuery } from '@tanstack/react-query'
import { memo, type ReactNode, useId, useRef, useState } from 'react'
import { providersQuery } from '../../app/queries.ts'
import { Hidden } from '../../ui/button.tsx'
import type { Opened } from '../open-prompt.ts'
import { useYaml } from '../text/load-yaml.ts'
import css from './editor.module.css'

/**
 * Provider, model and temperature. Each edits its one line of the front matter; the text stays the truth. The strip
 * reads the whole text, so it is not rendered again while only the cursor moves. Until the parser is loaded, it shows
 * the settings of the stored text.
 */
export const SettingsStrip = memo(function SettingsStrip({ open }: { open: Opened }) {
  const { text, buffer, document } = open
  const yaml = useYaml()
  const blocked = open.blocked ?? (yaml ? null : 'the settings are loading')
  const reason = useId()
  const { data: providers = [] } = useQuery(providersQuery)
  const settingOf = (key: string) => (yaml ? yaml.scalarOf(text, key) : textOf(document.config[key])) ?? ''
  const provider = settingOf('provider')
  const isKnown = providers.some(({ name }) => name === provider)
  const chosen = providers.find(({ name }) => name.toLowerCase() === provider.toLowerCase())
  const models = (chosen ? [chosen] : providers).flatMap((one) => one.models)
  const cleared = useRef<Cleared | null>(null)
  const set = (key: string) => (value: string) => {
    // The newest text, also if a key was pressed since the last render.
    const now = buffer.state.text
    if (!yaml || (yaml.scalarOf(now, key) ?? '') === value) return
    const isBack = cleared.current?.key === key && cleared.current.after === now
    const before = isBack && cleared.current ? cleared.current.before : now
    const after = yaml.withScalar(before, key, key === 'temperature' && value ? Number(value) : value || null)
    cleared.current = value ? null : { key, before, after }
    open.edit(after)
  }
  return (
    <div className={css['strip']} title={blocked === null ? undefined : `Read-only: ${blocked}`}>
      {blocked !== null && <Hidden id={reason}>Read-only: {blocked}</Hidden>}
      <Chip label="Provider">
        {(id) => (
          <select
            id={id}
            className={css['chipInput']}
            value={provider}
            disabled={blocked !== null}
            aria-describedby={blocked === null ? undefined : reason}
            onChange={(event) => set('provider')(event.target.value)}
          >
            <option value="">default</option>
            {provider && !isKnown && <option value={provider}>{provider}</option>}
            {providers.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Chip>
      <TypedChip
        label="Model"
        value={settingOf('model')}
        placeholder={chosen?.defaultModel ?? 'default'}
        choices={models}
        reason={blocked === null ? undefined : reason}
        onChange={set('model')}
      />
      <TypedChip
        label="Temperature"
        value={settingOf('temperature')}
        placeholder="default"
        pattern={/^(?:\d+(?:\.\d+)?)?$/}
        expected="a number, for example 0.7"
        reason={blocked === null ? undefined : reason}
        onChange={set('temperature')}
      />
    </div>
  )
})

/** The line of an emptied field, so that the next value is written at its place, beside its comment. */
interface Cleared {
  key: string
  before: string
  after: string
}

function Chip({ label, children }: { label: string; children: (id: string) => ReactNode }) {
  const id = useId()
  return (
    <div className={css['chip']}>
      <label htmlFor={id} className={css['chipLabel']}>
        {label}
      </label>
      {children(id)}
    </div>
  )
}

interface TypedChipProps {
  label: string
  value: string
  placeholder: string
  choices?: readonly ProviderModel[]
  /** The accepted text. */
  pattern?: RegExp
  /** Describes the pattern. */
  expected?: string
  /** The id of the element that says why the value cannot be changed. Undefined if it can. */
  reason: string | undefined
  onChange: (value: string) => void
}

/**
 * Each valid value is written into the text at once, so that a save or a run never uses an older one. Without a value
 * the text has no such line.
 */
function TypedChip({ label, value, placeholder, choices = [], pattern, expected, reason, onChange }: TypedChipProps) {
  const [draft, setDraft] = useState<string | null>(null)
  const [before, setBefore] = useState(value)
  const [isFinished, setFinished] = useState(true)
  const list = useId()
  const isValid = (text: string) => pattern === undefined || pattern.test(text.trim())
  const isWrong = draft !== null && !isValid(draft)
  const type = (text: string) => {
    setDraft(text)
    setFinished(false)
    if (isValid(text)) onChange(text.trim())
  }
  const finish = () => {
    setFinished(true)
    if (!isWrong) setDraft(null)
  }
  const undo = () => {
    if (draft !== null) onChange(before)
    setDraft(null)
  }
  return (
    <Chip label={label}>
      {(id) => (
        <>
          <input
            id={id}
            className={css['chipInput']}
            value={draft ?? value}
            placeholder={placeholder}
            size={Math.min(Math.max((draft ?? value).length, placeholder.length, 3), 28)}
            list={choices.length > 0 ? list : undefined}
            readOnly={reason !== undefined}
            aria-describedby={reason}
            aria-invalid={isWrong || undefined}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => type(event.target.value)}
            onFocus={() => setBefore(value)}
            onBlur={finish}
            onKeyDown={(event) => {
              if (event.key === 'Enter') finish()
              if (event.key === 'Escape') undo()
            }}
          />
          {isWrong && isFinished && (
            <span role="alert" className={css['chipProblem']}>
              {expected}
            </span>
          )}
          {choices.length > 0 && (
            <datalist id={list}>
              {choices.map(({ id: choice, deprecated }) => (
                <option key={choice} value={choice} label={deprecated ? `${choice} (deprecated)` : undefined} />
              ))}
            </datalist>
          )}
        </>
      )}
    </Chip>
  )
}

function textOf(setting: unknown): string | null {
  return typeof setting === 'string' || typeof setting === 'number' ? String(setting) : null
}

import type { Version } from '@stet/sdk'
import { useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { providersQuery, versionsQuery } from '../../app/queries.ts'
import { SelectField, TextField } from '../../ui/field.tsx'
import { decimalIn } from '../inputs/input-value.ts'
import { type Arm, settings, withSetting } from './arms.ts'
import css from './compare.module.css'

interface ArmSettingsProps {
  projectId: number
  arm: Arm
  /** Its run is active. */
  blocked: boolean
  onChange: (arm: Arm) => void
}

/** The version of an arm, and the settings that it has in place of those of the front matter. */
export function ArmSettings({ projectId, arm, blocked, onChange }: ArmSettingsProps) {
  const { overrides = {} } = arm
  const { data: versions = [] } = useQuery(versionsQuery(projectId))
  const { data: providers = [] } = useQuery(providersQuery)
  const list = useId()
  const chosen = providers.filter(({ name }) => name === overrides.provider)
  const models = (chosen.length > 0 ? chosen : providers).flatMap((one) => one.models)
  const further = settings.slice(2)
  // An emptied field must not close its own part of the form.
  const [isOpen] = useState(() => further.some(({ name }) => overrides[name] !== undefined))
  const setVersion = (version: string) => {
    const { version: _, ...rest } = arm
    onChange(version ? { ...rest, version } : rest)
  }
  const fieldOf = ({ name, label, isNumber }: (typeof settings)[number], choices?: string) => (
    <SettingField
      key={name}
      {...{ label, isNumber, choices, blocked }}
      value={overrides[name] ?? ''}
      onChange={(value) => onChange(withSetting(arm, name, value))}
    />
  )
  return (
    <div className={css['settings']}>
      <SelectField
        label="Version"
        value={arm.version ?? ''}
        disabled={blocked}
        onChange={({ target }) => setVersion(target.value)}
      >
        <option value="">This version</option>
        {versionChoices(versions, arm.version).map(({ value, text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </SelectField>
      <SelectField
        label="Provider key"
        value={overrides.provider ?? ''}
        disabled={blocked}
        onChange={({ target }) => onChange(withSetting(arm, 'provider', target.value))}
      >
        <option value="">As in the prompt</option>
        {overrides.provider && chosen.length === 0 && <option>{overrides.provider}</option>}
        {providers.map(({ name }) => (
          <option key={name}>{name}</option>
        ))}
      </SelectField>
      {settings.filter(({ name }) => name === 'model').map((setting) => fieldOf(setting, list))}
      <datalist id={list}>
        {models.map(({ id }) => (
          <option key={id} value={id} />
        ))}
      </datalist>
      <details className={css['more']} open={isOpen}>
        <summary>More settings</summary>
        <div className={css['settings']}>{further.map((setting) => fieldOf(setting))}</div>
      </details>
    </div>
  )
}

interface SettingFieldProps {
  label: string
  isNumber: boolean
  value: string | number
  /** The id of a list of usual values. */
  choices: string | undefined
  blocked: boolean
  onChange: (value: string | number) => void
}

/** Each valid value counts at once. What is not yet a number stays in the field. */
function SettingField({ label, isNumber, value, choices, blocked, onChange }: SettingFieldProps) {
  const [draft, setDraft] = useState<string | null>(null)
  const parsed = draft === null || !isNumber || draft.trim() === '' ? draft : decimalIn(draft)
  const isWrong = typeof parsed === 'number' && !Number.isFinite(parsed)
  const type = (text: string) => {
    setDraft(text)
    const number = decimalIn(text)
    if (!isNumber || text.trim() === '') onChange(text.trim())
    else if (Number.isFinite(number)) onChange(number)
  }
  return (
    <TextField
      label={label}
      placeholder="As in the prompt"
      value={draft ?? String(value)}
      inputMode={isNumber ? 'decimal' : undefined}
      list={choices}
      readOnly={blocked}
      problem={isWrong && 'This must be a number.'}
      onChange={({ target }) => type(target.value)}
      onBlur={() => !isWrong && setDraft(null)}
    />
  )
}

/** A list of hundreds would hide the few that people compare. */
const mostPublished = 50

function versionChoices(versions: readonly Version[], chosen: string | undefined): { value: string; text: string }[] {
  const live = versions.find(({ isLive }) => isLive)
  const drafts = versions.filter(({ status }) => status === 'draft')
  const published = versions.filter(({ status }) => status === 'merged').slice(0, mostPublished)
  const choices = [
    ...(live ? [{ value: 'live', text: `Live v${live.version}` }] : []),
    ...drafts.map(({ uuid, title }) => ({ value: uuid, text: title })),
    ...published.map(({ uuid, version }) => ({ value: uuid, text: `v${version}` })),
  ]
  const isKnown = chosen === undefined || choices.some(({ value }) => value === chosen)
  return isKnown ? choices : [...choices, { value: chosen, text: chosen }]
}
